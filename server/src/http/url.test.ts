import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { normalizeUrl } from './request.ts';

describe('A request target', () => {
  it('is unchanged when it can be decoded', () => {
    for (const target of ['/', '/a/b?c=%zz', '/a%20b', '//a', '*'])
      assert.equal(normalizeUrl(target), target);
  });

  it('may be in absolute form', () => {
    assert.equal(normalizeUrl('http://host:1/a?b'), '/a?b');
    assert.equal(normalizeUrl('HTTPS://host'), '/');
    assert.equal(normalizeUrl('http://host?x=/y'), '?x=/y');
  });

  it('becomes an unknown path when it cannot be decoded', () => {
    assert.equal(normalizeUrl('/threads/%zz?limit=%zz'), '/threads/!zz?limit=%zz');
    assert.equal(normalizeUrl('/threads/%ff'), '/threads/!ff');
  });
});
