import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundHeaders } from './bounded-headers.ts';

describe('Headers that are parsed', () => {
  const bounded = (headers: Record<string, string>) => {
    boundHeaders(headers);
    return headers;
  };

  it('are ignored when they are longer than clients send', () => {
    const usual = {
      'accept-encoding': 'gzip, deflate, br, zstd',
      'content-type': `application/json; charset=utf-8${' '.repeat(225)}`,
      prefer: 'wait=20',
      range: 'bytes=0-1',
    };
    assert.equal(usual['content-type'].length, 256);
    assert.deepEqual(bounded({ ...usual }), usual);
    for (const name of Object.keys(usual))
      assert.deepEqual(bounded({ [name]: 'x'.repeat(257), host: 'a' }), { host: 'a' });
  });

  it('keep the addresses of the nearest 16 proxies', () => {
    const addresses = Array.from({ length: 40 }, (_, number) => `10.0.0.${number}`);
    const forwarded = (list: readonly string[]) =>
      bounded({ 'x-forwarded-for': list.join(',') })['x-forwarded-for']?.split(',');
    assert.deepEqual(forwarded(addresses), addresses.slice(-16));
    assert.deepEqual(forwarded(addresses.slice(0, 16)), addresses.slice(0, 16));
    assert.deepEqual(forwarded(['203.0.113.1']), ['203.0.113.1']);
    assert.equal(bounded({ 'x-forwarded-for': ','.repeat(5000) })['x-forwarded-for'], ','.repeat(15));
    assert.equal(bounded({ 'x-forwarded-for': '' })['x-forwarded-for'], '');
    assert.equal(bounded({ 'x-forwarded-for': ',,a' })['x-forwarded-for'], ',,a');
  });
});
