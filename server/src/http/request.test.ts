import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { normalizeUrl, parseQuery } from './request.ts';

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

const schema = { properties: { limit: { type: 'integer' }, accountId: { type: 'string' } } };

describe('A query', () => {
  it('parses the known parameters', () => {
    assert.deepEqual(parseQuery('', schema), {});
    assert.deepEqual(parseQuery('limit=5&accountId=a%20b+c%2Bd&other=%zz&other=1&__proto__=1', schema), {
      limit: 5,
      accountId: 'a b c+d',
    });
    assert.deepEqual(parseQuery('accountId', schema), { accountId: '' });
    assert.deepEqual(parseQuery('accountId=a=b', schema), { accountId: 'a=b' });
    assert.deepEqual(parseQuery('%6Cimit=5', schema), { limit: 5 });
  });

  it('accepts only plain decimals as integers', () => {
    for (const text of ['1e1', '1.5', '', ' 5', '+5', '05', '-0', '0x5', '٣', '9'.repeat(16)]) {
      assert.equal(typeof parseQuery(`limit=${encodeURIComponent(text)}`, schema).limit, 'string', text);
    }
  });

  it('skips names that cannot be decoded without an error for each', (test) => {
    const decoded = test.mock.method(globalThis, 'decodeURIComponent');
    assert.deepEqual(parseQuery('%&%4&%ff&%ED%A0%80=1&%zz=1&a%=&%6cimit=5', schema), { limit: 5 });
    assert.ok(decoded.mock.calls.every(({ error }) => error === undefined));
  });

  it('rejects a known parameter that is repeated or cannot be decoded', () => {
    for (const query of [
      'limit=1&limit=1',
      'limit=1&%6Cimit=2',
      'accountId=%zz',
      'accountId=%ff',
      'accountId=%ED%A0%80',
    ]) {
      assert.throws(() => parseQuery(query, schema), { code: 'INVALID_PARAMS' }, query);
    }
  });
});
