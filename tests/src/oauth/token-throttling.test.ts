import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertIssued,
  assertRefused,
  byBasic,
  byBody,
  newAddress,
  sendTokenRequest,
  type TokenRequest,
  type TokenResponse,
} from '../../harness/oauth/token-requests.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { clockThatLeaps } from '../../harness/service/shifted-clock.ts';
import { type IssuedApplication, makeApplication } from '../../harness/world/applications.ts';
import { startWorld, type World } from '../../harness/world/world.ts';

const failuresMax = 10;
const windowSeconds = 60;
type By = (client: IssuedApplication) => TokenRequest;

describe('Guessing at a client secret', () => {
  let world: World;
  let apps: IssuedApplication[];
  before(async () => {
    world = await startWorld(clockThatLeaps(windowSeconds * 1000));
    apps = await Promise.all(Array.from({ length: 5 }, () => makeApplication(world.service, world.acme)));
  });
  after(() => world.end());

  const send = (client: IssuedApplication, from: string, by: By = byBody): Promise<TokenResponse> =>
    sendTokenRequest(world.service.baseUrl, { ...by(client), from });
  const wrong = ({ clientId }: IssuedApplication): IssuedApplication => ({ clientId, clientSecret: 'guess' });

  /** Ten wrong guesses, each of which is checked. */
  async function guess(client: IssuedApplication, from: string): Promise<void> {
    for (let place = 1; place <= failuresMax; place += 1) {
      const by = place % 2 === 0 ? byBody : byBasic;
      assertRefused(await send(wrong(client), from, by), 'invalid_client', `guess ${place}`);
    }
  }

  function assertThrottled(answer: TokenResponse): void {
    assertRefused(answer, 'temporarily_unavailable', 'a further attempt');
    const seconds = Number(answer.headers.get('retry-after'));
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= windowSeconds, `${seconds} s`);
  }

  it('is throttled after ten failures for a client from one address', async () => {
    const [app] = apps as [IssuedApplication];
    const address = newAddress();
    await guess(app, address);
    assertThrottled(await send(wrong(app), address));
    assertThrottled(await send(wrong(app), address, byBasic));
  });

  it('affects no other client, and not the same client from another address', async () => {
    const [, app, other] = apps as [IssuedApplication, IssuedApplication, IssuedApplication];
    const address = newAddress();
    await guess(app, address);
    assertThrottled(await send(wrong(app), address));
    assertIssued(await send(other, address), 'another client');
    assertRefused(await send(wrong(app), newAddress()), 'invalid_client', 'another address is heard');
    assertIssued(await send(app, newAddress()), 'another address');
  });

  it('locks no one out: the right secret still works, even a new one', async () => {
    const [, , , app] = apps as [IssuedApplication, IssuedApplication, IssuedApplication, IssuedApplication];
    const address = newAddress();
    await guess(app, address);
    assertThrottled(await send(wrong(app), address));
    assertIssued(await send(app, address));
    assertIssued(await send(app, address, byBasic));
    const rotated = await world.service.skein('app', 'rotate', world.acme, app.clientId);
    assertThrottled(await send(app, address));
    assertIssued(await send(rotated, address));
  });

  it('does not reveal which clients exist', async () => {
    const nobody = { clientId: `app_${'0'.repeat(26)}`, clientSecret: 'guess' };
    const address = newAddress();
    await guess(nobody, address);
    assertThrottled(await send(nobody, address));
  });

  it('accepts ten more attempts after a minute', async () => {
    const app = apps[4] as IssuedApplication;
    const address = newAddress();
    await guess(app, address);
    assertThrottled(await send(wrong(app), address));
    world.service.signal('SIGUSR2');
    await eventually(
      () => send(wrong(app), address),
      ({ status }) => status === 401,
    );
    for (let place = 2; place <= failuresMax; place += 1) {
      assertRefused(await send(wrong(app), address), 'invalid_client', `guess ${place}`);
    }
    assertThrottled(await send(wrong(app), address));
  });
});
