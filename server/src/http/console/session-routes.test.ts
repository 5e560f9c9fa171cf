import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { localPath } from './session-routes.ts';

describe('The page after single sign-on', () => {
  it('is the requested path', () => {
    assert.equal(localPath('/threads/thr_1?scope=mine#end'), '/threads/thr_1?scope=mine#end');
  });

  it('is a path that fits into a cookie', () => {
    const cited = (length: number) => `/documents/doc_1?cited=${'%E6%BC%A2'.repeat(length)}`;
    assert.equal(localPath(cited(200)), cited(200));
    assert.equal(localPath(cited(250)), '/documents/doc_1');
    assert.equal(localPath(`/documents/${'漢'.repeat(250)}`), '/');
  });

  it('is the start page instead of another site', () => {
    const elsewhere = [
      undefined,
      '',
      'threads',
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      '/.//evil.example',
      'javascript:alert(1)',
    ];
    for (const text of elsewhere) assert.equal(localPath(text), '/', String(text));
  });
});
