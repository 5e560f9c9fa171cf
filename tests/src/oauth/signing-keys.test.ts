import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { SharedStore } from '../../harness/replies/shared-store.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { clockThatLeaps } from '../../harness/service/shifted-clock.ts';
import { exchange, type IssuedApplication, makeApplication } from '../../harness/world/applications.ts';
import { assertFails } from '../../harness/world/world.ts';
import { decodeClaims, headerFor, mint, stealSigningKey } from './token-forge.ts';

describe('The signing key, with two running processes', () => {
  let store: SharedStore;
  let first: Service;
  let second: Service;
  let app: IssuedApplication;
  before(async () => {
    store = await SharedStore.prepare(clockThatLeaps(3_600_000));
    first = await store.start();
    second = await store.start('api');
    app = await makeApplication(first, store.made.acme);
  });
  after(() => store.killAll());

  const read = ({ baseUrl }: Service, token: string) => new Api(baseUrl, token).list();
  const decodeKid = (token: string): string =>
    JSON.parse(Buffer.from(token.split('.')[0] as string, 'base64url').toString()).kid;

  async function publishedKids({ baseUrl }: Service): Promise<string[]> {
    const response = await fetch(`${baseUrl}/.well-known/jwks.json`);
    assert.equal(response.status, 200);
    const { keys } = (await response.json()) as { keys: Record<string, string>[] };
    for (const key of keys) {
      assert.deepEqual(
        Object.keys(key).sort(),
        ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
        'nothing private',
      );
    }
    return keys.map(({ kid }) => kid as string);
  }

  it('keeps tokens of the old key valid after a rotation, cached or not, in every process', async () => {
    const [met, unmet] = [await exchange(first.baseUrl, app), await exchange(first.baseUrl, app)];
    assert.equal((await read(first, met)).status, 200);
    const { id, forget } = await first.skein('signing-key', 'rotate');
    assert.equal(forget, false);
    for (const service of [first, second]) {
      assert.equal((await read(service, met)).status, 200);
      assert.equal((await read(service, unmet)).status, 200);
      const fresh = await exchange(service.baseUrl, app);
      assert.equal(decodeKid(fresh), id, 'new tokens are signed by the new key at once');
      assert.equal((await read(first, fresh)).status, 200);
      assert.equal((await read(second, fresh)).status, 200);
      assert.deepEqual(await publishedKids(service), [id, decodeKid(met)], 'both keys are published');
    }
  });

  it('invalidates every token when the old key is forgotten, cached or not, in every process', async () => {
    const stolen = stealSigningKey(store.folder);
    const [met, unmet] = [await exchange(first.baseUrl, app), await exchange(first.baseUrl, app)];
    for (const service of [first, second]) assert.equal((await read(service, met)).status, 200);
    const { id, forget } = await first.skein('signing-key', 'rotate', '--forget');
    assert.equal(forget, true);
    const fresh = await exchange(second.baseUrl, app);
    const forged = mint(headerFor(stolen), decodeClaims(fresh), stolen.privateKey);
    const control = mint(
      headerFor({ kid: id }),
      decodeClaims(fresh),
      stealSigningKey(store.folder).privateKey,
    );
    for (const service of [first, second]) {
      for (const token of [met, unmet]) assertFails(await read(service, token), 'UNAUTHORIZED');
      assertFails(
        await read(service, forged),
        'UNAUTHORIZED',
        'signed by the forgotten key, of the new epoch',
      );
      assert.equal((await read(service, control)).status, 200, 'the same claims by the new key');
      assert.equal((await read(service, fresh)).status, 200, 'the secret is still good');
      assert.deepEqual(await publishedKids(service), [id]);
    }
  });

  it('lets a token expire after an hour, even a cached one', async () => {
    const [met, unmet] = [await exchange(first.baseUrl, app), await exchange(first.baseUrl, app)];
    assert.equal((await read(first, met)).status, 200);
    first.signal('SIGUSR2');
    await eventually(
      () => read(first, met),
      ({ status }) => status === 401,
    );
    assertFails(await read(first, unmet), 'UNAUTHORIZED');
    assert.equal((await read(first, await exchange(first.baseUrl, app))).status, 200);
  });
});
