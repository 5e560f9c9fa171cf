import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseQuery } from './request.ts';

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
