import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { startAddressed } from '../../harness/oauth/addressed-service.ts';
import type { Service } from '../../harness/service/service.ts';
import { exchange, makeApplication } from '../../harness/world/applications.ts';
import { assertFails, type Made, prepareStore } from '../../harness/world/world.ts';
import { brokenTokens, forgedClaims } from './forged-claims.ts';
import { forgedHeaders } from './forged-headers.ts';
import type { ForgersKit } from './forgers-kit.ts';
import { decodeClaims, headerFor, mint, type SigningKey, stealSigningKey } from './token-forge.ts';

describe('A token that the service did not issue', () => {
  let made: Made;
  let service: Service;
  let elsewhere: Service;
  let attacker: Server;
  let kit: ForgersKit;
  let tokenFromElsewhere: string;
  const asked: string[] = [];

  before(async () => {
    attacker = createServer((request, response) => {
      asked.push(request.url as string);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(attacker, 'listening');
    const { folder, ...rest } = await prepareStore();
    made = rest;
    // Configured, so that issuer and audience are checked.
    const addresses = (port: number) => ({
      SKEIN_BASE_URL: `http://127.0.0.1:${port}`,
      SKEIN_AUTH_URL: `http://localhost:${port}`,
    });
    const started = await startAddressed(addresses, folder);
    service = started;
    const [app, deleted, foreign] = await Promise.all([
      makeApplication(service, made.acme),
      makeApplication(service, made.acme),
      makeApplication(service, made.globex),
    ]);
    await service.skein('app', 'delete', made.acme, deleted.clientId);
    const authUrl = addresses(started.port).SKEIN_AUTH_URL;
    const good = await exchange(authUrl, app);
    kit = {
      good,
      another: await exchange(authUrl, app),
      own: stealSigningKey(folder),
      foreign: foreignKey(),
      claims: (changes = {}) => {
        const iat = Math.floor(Date.now() / 1000);
        return { ...decodeClaims(good), iat, exp: iat + 3600, jti: randomUUID(), ...changes };
      },
      attackersUrl: `http://127.0.0.1:${(attacker.address() as AddressInfo).port}`,
      authUrl,
      baseUrl: service.baseUrl,
      deletedClient: deleted.clientId,
      foreignClient: foreign.clientId,
      foreignOrganization: made.globex,
    };

    // Another installation, configured with the same addresses, on a copy of the same organizations.
    const copy = await prepareStore();
    elsewhere = await startAddressed(() => addresses(started.port), copy.folder);
    const twin = await makeApplication(elsewhere, copy.acme);
    tokenFromElsewhere = await exchange(`http://127.0.0.1:${(elsewhere as typeof started).port}`, twin);
  });
  after(async () => {
    attacker.close();
    assert.equal(await service.end(), 0);
    assert.equal(await elsewhere.end(), 0);
  });

  const read = (token: string): Promise<ApiResponse> => new Api(kit.baseUrl, token).list();

  /** The remaining quota, read with a valid token, which uses one request. */
  async function remaining(): Promise<number> {
    const { status, headers } = await read(kit.good);
    assert.equal(status, 200, 'a good token is accepted');
    return Number(/r=(\d+)/.exec(headers.get('ratelimit') as string)?.[1]);
  }

  /** Each is rejected, and none counts against the quota. */
  async function assertAllRefused(tokens: Record<string, string>, atLeast: number): Promise<void> {
    const names = Object.keys(tokens);
    assert.ok(names.length >= atLeast, `${names.length} tokens`);
    const sawBefore = await remaining();
    const accepted: string[] = [];
    for (const [what, token] of Object.entries(tokens)) {
      const answer = await read(token);
      if (answer.status === 200) {
        accepted.push(what);
        continue;
      }
      assertFails(answer, 'UNAUTHORIZED', what);
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer\b/, what);
      assert.equal(answer.headers.get('ratelimit'), null, what);
    }
    assert.deepEqual(accepted, []);
    assert.equal(await remaining(), sawBefore - 1, 'nothing was counted against the quota');
  }

  it('would be accepted if it were identical to one that the service issues', async () => {
    const twin = mint(headerFor(kit.own), kit.claims(), kit.own.privateKey);
    assert.equal((await read(twin)).status, 200);
  });

  it('is rejected when it chooses its own algorithm or key', async () => {
    await assertAllRefused(forgedHeaders(kit), 80);
    assert.deepEqual(asked, [], 'no address in a token was asked');
  });

  it('is rejected with other claims, even if they are signed with the service’s key', () =>
    assertAllRefused(forgedClaims(kit), 80));

  it('is rejected when it is truncated, spliced or encoded differently', () =>
    assertAllRefused(brokenTokens(kit), 30));

  it('is rejected when another installation issued it, even one with the same addresses', async () => {
    const { iss, aud } = decodeClaims(tokenFromElsewhere);
    assert.deepEqual({ iss, aud }, { iss: kit.authUrl, aud: `${kit.baseUrl}/api/v1` });
    await assertAllRefused({ 'of another installation': tokenFromElsewhere }, 1);
  });

  it('is rejected after any one of its characters was changed', async () => {
    const { good } = kit;
    const changed = [...good].map((letter, place) => {
      const other = letter === 'A' ? 'B' : 'A';
      return [`character ${place}`, good.slice(0, place) + other + good.slice(place + 1)];
    });
    await assertAllRefused(Object.fromEntries(changed), 300);
  });

  it('is only accepted in the header, with the Bearer scheme in any case', async () => {
    const { good, baseUrl } = kit;
    const nobody = new Api(baseUrl);
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      assert.equal((await nobody.list({}, { authorization: `${scheme} ${good}` })).status, 200, scheme);
    }
    for (const scheme of ['Basic', 'DPoP', 'JWT', 'Token']) {
      assertFails(await nobody.list({}, { authorization: `${scheme} ${good}` }), 'UNAUTHORIZED', scheme);
    }
    assertFails(await nobody.list({}, { authorization: good }), 'UNAUTHORIZED');
    assertFails(await nobody.list({ access_token: good }), 'UNAUTHORIZED');
    assertFails(await nobody.list({}, { cookie: `access_token=${good}` }), 'UNAUTHORIZED');
    const body = new URLSearchParams({ access_token: good, prompt: 'x' }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    assertFails(await nobody.call('POST', '/threads', { raw: body, headers }), 'UNAUTHORIZED');
    assertFails(await nobody.create({ prompt: 'x', access_token: good }), 'UNAUTHORIZED');
  });
});

function foreignKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid: 'foreign', privateKey, publicKey, publicJwk: publicKey.export({ format: 'jwk' }) };
}
