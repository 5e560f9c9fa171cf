import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { trustedProxies, warnOfUntrustedProxy } from './trusted-proxies.ts';

describe('Trusted proxies', () => {
  it('are addresses and networks, of both families', () => {
    const isTrusted = trustedProxies(['10.0.0.7', '10.1.0.0/16', 'fd00::/8', '::1']);
    for (const address of ['10.0.0.7', '10.1.255.255', '::ffff:10.1.2.3', 'fd12::1', '::1'])
      assert.ok(isTrusted(address), address);
    for (const address of [
      '10.0.0.8',
      '10.2.0.1',
      '::ffff:10.2.0.1',
      'fe80::1',
      '::2',
      'unknown',
      '',
      undefined,
    ])
      assert.ok(!isTrusted(address), address);
  });

  it('do not exist unless the operator names them', () => {
    assert.ok(!trustedProxies([])('127.0.0.1'));
  });

  it('are asked for once, when somebody else sends X-Forwarded-For', () => {
    const lines: unknown[][] = [];
    const warn = warnOfUntrustedProxy(
      { warn: (...line: unknown[]) => void lines.push(line) },
      trustedProxies(['10.0.0.7']),
    );
    const receive = (remoteAddress: string | undefined, headers: IncomingMessage['headers']) =>
      warn({ headers, socket: { remoteAddress } } as IncomingMessage);
    receive('10.0.0.8', {});
    receive('10.0.0.7', { 'x-forwarded-for': '203.0.113.1' });
    receive(undefined, { 'x-forwarded-for': '203.0.113.1' });
    assert.deepEqual(lines, []);
    receive('10.0.0.8', { 'x-forwarded-for': '203.0.113.1' });
    receive('10.0.0.9', { 'x-forwarded-for': '203.0.113.1' });
    assert.equal(lines.length, 1);
    assert.deepEqual(lines[0]![0], { peer: '10.0.0.8' });
    assert.match(String(lines[0]![1]), /10\.0\.0\.8.*SKEIN_TRUSTED_PROXIES/);
  });
});
