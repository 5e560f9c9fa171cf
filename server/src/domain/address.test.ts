import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toNetwork } from './address.ts';

describe('The key by which attempts are counted', () => {
  it('is an IPv4 address, even if it is written as an IPv6 address', () => {
    assert.equal(toNetwork('203.0.113.7'), '203.0.113.7');
    assert.equal(toNetwork('::ffff:203.0.113.7'), '203.0.113.7');
  });

  it('is the network of an IPv6 address', () => {
    assert.equal(toNetwork('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2');
    assert.equal(toNetwork('2001:db8:1:2::9'), toNetwork('2001:db8:1:2:ffff::1'));
    assert.equal(toNetwork('2001:db8::1'), '2001:db8:0:0');
    assert.equal(toNetwork('::1'), '0:0:0:0');
    assert.equal(toNetwork('fe80::1%eth0'), 'fe80:0:0:0');
  });

  it('is the same regardless of the port that a proxy appends to the address', () => {
    assert.equal(toNetwork('203.0.113.7:50123'), '203.0.113.7');
    assert.equal(toNetwork('[2001:db8:1:2::9]:50123'), toNetwork('2001:db8:1:2::9'));
  });
});
