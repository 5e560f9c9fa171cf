import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefused } from '../../harness/console/assertions.ts';
import { ConsoleClient } from '../../harness/console/console-client.ts';
import {
  assertRefused as assertTokenRefused,
  byBody,
  newAddress,
  sendTokenRequest,
  type TokenResponse,
} from '../../harness/oauth/token-requests.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { type IssuedApplication, makeApplication } from '../../harness/world/applications.ts';
import { startWorld, type World } from '../../harness/world/world.ts';

const failuresMax = 10;
const proxy = '127.0.0.1';

describe('Attempts behind a proxy', () => {
  let world: World;
  let application: IssuedApplication;
  before(async () => {
    world = await startWorld({ SKEIN_TRUSTED_PROXIES: `${proxy}, 10.1.0.0/16` });
    application = await makeApplication(world.service, world.acme);
  });
  after(() => world.end());

  function guess(peer: string, forwardedFor: string): Promise<TokenResponse> {
    const sent = byBody({ clientId: application.clientId, clientSecret: 'guess' });
    const headers = [...(sent.headers ?? []), ['x-forwarded-for', forwardedFor]] as const;
    return sendTokenRequest(world.service.baseUrl, { ...sent, headers, from: peer });
  }

  /** Uses up the failures that are allowed, and checks that the next attempt is throttled. */
  async function exhaust(peer: string, forwardedFor: (attempt: number) => string): Promise<void> {
    for (let attempt = 0; attempt < failuresMax; attempt += 1) {
      assertTokenRefused(await guess(peer, forwardedFor(attempt)), 'invalid_client', `guess ${attempt}`);
    }
    assertTokenRefused(await guess(peer, forwardedFor(failuresMax)), 'temporarily_unavailable', 'one more');
  }

  it('are counted by the address that the proxy reports', async () => {
    await exhaust(proxy, () => '203.0.113.1');
    assertTokenRefused(await guess(proxy, '203.0.113.2'), 'invalid_client', 'from elsewhere');
  });

  it('are counted by the last address that is not a trusted proxy, whatever the client claimed', async () => {
    await exhaust(proxy, (attempt) => `198.51.100.${attempt}, 203.0.113.3, 10.1.2.${attempt}`);
    assertTokenRefused(await guess(proxy, '203.0.113.3, 203.0.113.4'), 'invalid_client', 'from elsewhere');
  });

  it('are counted by the peer address if it is not the proxy', async () => {
    const peer = newAddress();
    await exhaust(peer, (attempt) => `198.51.100.${attempt}`);
    assertTokenRefused(await guess(newAddress(), '198.51.100.1'), 'invalid_client', 'from elsewhere');
  });

  it('are warned of once if a peer that is not the proxy names addresses', async () => {
    const warnings = () => world.service.output.filter((line) => line.includes('SKEIN_TRUSTED_PROXIES'));
    const logged = await eventually(warnings, ({ length }) => length > 0);
    const [first, ...others] = logged.map((line) => JSON.parse(line));
    assert.deepEqual(others, [], 'the first peer that did it was warned of');
    assert.equal(first.level, 40);
    assert.match(first.peer, /^127\./);
    assert.ok(first.msg.includes(`ignoring X-Forwarded-For from ${first.peer},`), first.msg);
    await guess(newAddress(), '198.51.100.1');
    await guess(proxy, '203.0.113.7');
    assert.equal(warnings().length, 1);
  });

  it('to sign in are counted in the same way', async () => {
    const signIn = (address: string) =>
      new ConsoleClient(world.service.baseUrl).call('POST', '/sign-in', {
        body: { email: 'ada@acme.example', password: 'not the password' },
        headers: { 'x-forwarded-for': address },
      });
    for (let attempt = 0; attempt < failuresMax; attempt += 1) {
      assertRefused(await signIn('203.0.113.5'), 'UNAUTHORIZED');
    }
    assertRefused(await signIn('203.0.113.5'), 'RATE_LIMITED');
    assertRefused(await signIn('203.0.113.6'), 'UNAUTHORIZED');
  });
});
