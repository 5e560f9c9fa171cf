import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { runCommand } from '../../harness/service/service.ts';
import {
  exchange,
  type IssuedApplication,
  makeApplication,
  requestToken,
} from '../../harness/world/applications.ts';
import { assertFails, createThread, sharedWorld, type World } from '../../harness/world/world.ts';

describe('Applications', () => {
  let world: World;
  let app: IssuedApplication;
  let atGlobex: IssuedApplication;
  /** Two threads of Ada's: one published, one not. */
  let published: string;
  let unpublished: string;
  before(async () => {
    world = await sharedWorld();
    const { service, acme, globex, ada } = world;
    published = (await createThread(ada)).thread.id;
    unpublished = (await createThread(ada)).thread.id;
    [app, atGlobex] = await Promise.all([
      makeApplication(service, acme),
      makeApplication(service, globex),
      world.publish(published),
    ]);
  });

  const authUrl = () => world.service.baseUrl;
  const openApi = async (application: IssuedApplication): Promise<Api> =>
    world.as(await exchange(authUrl(), application));

  describe('accepts', () => {
    it('exchanges client ID and secret for an access token by client_credentials', async () => {
      const { status, headers, body } = await requestToken(authUrl(), app);
      assert.equal(status, 200);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(body.token_type, 'Bearer');
      assert.equal(body.expires_in, 3600);
      assert.match(body.access_token, /^[\w-]+\.[\w-]+\.[\w-]+$/);
    });

    it('accepts the access token, a JWT, as the Bearer token', async () => {
      const token = await exchange(authUrl(), app);
      const [header, payload] = token.split('.').slice(0, 2).map(decoded);
      assert.equal(header.typ, 'at+jwt');
      assert.equal(payload.client_id, app.clientId);
      assert.equal((await world.as(token).get(published)).body.thread.id, published);
    });

    it('issues another token before the first one expires: both are valid', async () => {
      const [first, second] = [await exchange(authUrl(), app), await exchange(authUrl(), app)];
      assert.notEqual(first, second);
      for (const token of [first, second]) assert.equal((await world.as(token).list()).status, 200);
    });
  });

  describe('rejects', () => {
    it('rejects a token request with a wrong secret, an unknown client, another grant type or another media type', async () => {
      assert.equal((await requestToken(authUrl(), app)).status, 200);
      const wrong = await requestToken(authUrl(), { ...app, clientSecret: atGlobex.clientSecret });
      assert.deepEqual([wrong.status, wrong.body.error], [401, 'invalid_client']);
      const unknown = await requestToken(authUrl(), { ...app, clientId: 'app_unknown' });
      assert.deepEqual([unknown.status, unknown.body.error], [401, 'invalid_client']);
      const sent = { client_id: app.clientId, client_secret: app.clientSecret };
      const post = async (body: URLSearchParams | string, type?: string) => {
        const headers = type === undefined ? {} : { 'content-type': type };
        const response = await fetch(`${authUrl()}/oauth2/token`, { method: 'POST', body, headers });
        return [response.status, ((await response.json()) as { error: string }).error];
      };
      const password = new URLSearchParams({ ...sent, grant_type: 'password' });
      assert.deepEqual(await post(password), [400, 'unsupported_grant_type']);
      const json = JSON.stringify({ ...sent, grant_type: 'client_credentials' });
      assert.deepEqual(await post(json, 'application/json'), [400, 'invalid_request']);
    });

    it('accepts neither the client secret nor the client ID as a Bearer token', async () => {
      for (const credential of [app.clientSecret, app.clientId, `${app.clientId}:${app.clientSecret}`]) {
        assertFails(await world.as(credential).list(), 'UNAUTHORIZED');
      }
    });

    it('rejects the tokens and the old secret of an application once its secret is rotated', async () => {
      const { service, acme } = world;
      const old = await makeApplication(service, acme);
      const api = await openApi(old);
      assert.equal((await api.get(published)).status, 200);
      const rotated = await service.skein('app', 'rotate', acme, old.clientId);
      assertFails(await api.get(published), 'UNAUTHORIZED');
      assert.equal((await requestToken(authUrl(), old)).status, 401);
      assert.equal(rotated.clientId, old.clientId);
      assert.equal((await (await openApi(rotated)).get(published)).status, 200);
      assertFails(await api.get(published), 'UNAUTHORIZED');
    });

    it('rejects the tokens and the secret of an application once it is deleted', async () => {
      const { service, acme } = world;
      const doomed = await makeApplication(service, acme);
      const [api, kept] = [await openApi(doomed), await openApi(app)];
      assert.equal((await api.get(published)).status, 200);
      await service.skein('app', 'delete', acme, doomed.clientId);
      assertFails(await api.get(published), 'UNAUTHORIZED');
      assert.equal((await requestToken(authUrl(), doomed)).status, 401);
      assert.equal((await kept.get(published)).status, 200, 'another application lives on');
    });
  });

  describe('protects', () => {
    it('gives an application the rights of an org-wide key: it reads published threads and writes nothing', async () => {
      const api = await openApi(app);
      for (const caller of [api, world.acmeWide]) {
        assert.deepEqual(
          (await caller.walk()).map(({ id }) => id),
          [published],
        );
        assert.equal((await caller.get(published)).status, 200);
        assertFails(await caller.get(unpublished), 'NOT_FOUND');
        assertFails(await caller.create({ prompt: 'Hello' }), 'FORBIDDEN');
        assertFails(await caller.rename(published, 'Renamed'), 'FORBIDDEN');
        assertFails(await caller.delete(published), 'FORBIDDEN');
      }
      assert.equal((await world.ada.get(published)).status, 200);
    });

    it('hides other organizations from an application', async () => {
      const api = await openApi(atGlobex);
      assert.deepEqual(await api.walk(), []);
      assertFails(await api.get(published), 'NOT_FOUND');
      assert.equal((await (await openApi(app)).get(published)).status, 200);
    });

    it('shows a client secret only when it is created or rotated', async () => {
      const { service, acme } = world;
      const made = await makeApplication(service, acme);
      const rotated = await service.skein('app', 'rotate', acme, made.clientId);
      assert.notEqual(rotated.clientSecret, made.clientSecret);
      await exchange(authUrl(), rotated);
      const listed = JSON.stringify(await service.skein('app', 'list', acme));
      assert.ok(listed.includes(made.clientId));
      assert.ok(service.output.length > 0);
      for (const secret of [made.clientSecret, rotated.clientSecret]) {
        assert.ok(!listed.includes(secret));
        assert.ok(!service.output.some((line) => line.includes(secret)), 'nor in the log');
      }
    });

    it('creates no application and issues no token for an organization without the public API', async () => {
      const { service } = world;
      const { id } = await service.skein('org', 'create', 'Passing');
      const inside = await makeApplication(service, id);
      const api = await openApi(inside);
      assert.equal((await api.list()).status, 200);
      await service.skein('org', 'set', id, '--api', 'off');
      assertFails(await api.list(), 'NOT_FOUND');
      const refused = await requestToken(authUrl(), inside);
      assert.deepEqual([refused.status, refused.body.error], [400, 'unauthorized_client']);
      const { exitCode, stdout } = await runCommand(service.folder, ['app', 'create', id, '--name', 'Late']);
      assert.deepEqual({ exitCode, stdout }, { exitCode: 1, stdout: '' });
    });
  });
});

function decoded(part: string): any {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
