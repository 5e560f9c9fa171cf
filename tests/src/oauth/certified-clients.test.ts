import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { startAddressed } from '../../harness/oauth/addressed-service.ts';
import type { Service } from '../../harness/service/service.ts';
import { exchange, type IssuedApplication, makeApplication } from '../../harness/world/applications.ts';
import { createThread, prepareStore } from '../../harness/world/world.ts';
import { certifiedClients, methods, readAsResourceServer } from './certified-clients.ts';
import { type FrontProxy, startFrontProxy } from './front-proxy.ts';

type Settings = (port: number, front: FrontProxy) => Record<string, string>;

/** Deployments in which the API and the token endpoint have the same URL or different ones. */
const deployments: Record<string, Settings> = {
  'at the URL it listens on': () => ({}),
  'at one configured URL': (port) => ({ SKEIN_BASE_URL: `http://localhost:${port}` }),
  'with another host name for tokens': (port) => ({
    SKEIN_BASE_URL: `http://127.0.0.1:${port}`,
    SKEIN_AUTH_URL: `http://localhost:${port}`,
  }),
  'with a path for tokens, behind a proxy': (port, front) => ({
    SKEIN_BASE_URL: `http://127.0.0.1:${port}`,
    SKEIN_AUTH_URL: `http://localhost:${front.port}/auth`,
  }),
  'with a path for tokens': (port) => ({ SKEIN_AUTH_URL: `http://localhost:${port}/auth/v2/` }),
};

/** Characters that form encoding changes: the client must encode them, and the service must decode them. */
const awkward = ['a:b', 'a b', 'a+b', '100%', 'a%20b', 'ä€😀', "!*'()~", 'a/b=c&d;e', '"\\"'];

for (const [deployment, settings] of Object.entries(deployments)) {
  describe(`Certified OAuth clients, ${deployment}`, () => {
    let front: FrontProxy;
    let service: Service;
    let issuer: string;
    let organization: string;
    let application: IssuedApplication;
    let published: string;
    before(async () => {
      front = await startFrontProxy(['/auth']);
      const { folder, acme, adaKey } = await prepareStore();
      organization = acme;
      let authUrl: string | undefined;
      const started = await startAddressed((port) => {
        const named = settings(port, front);
        authUrl = named.SKEIN_AUTH_URL?.replace(/\/$/, '');
        return named;
      }, folder);
      service = started;
      front.leadTo(started.port);
      issuer = authUrl ?? service.baseUrl;
      published = (await createThread(new Api(service.baseUrl, adaKey.key))).thread.id;
      [application] = await Promise.all([
        makeApplication(service, acme),
        service.skein('thread', 'publish', acme, published),
      ]);
    });
    after(async () => {
      await front?.close();
      assert.equal(await service.end(), 0);
    });

    for (const [library, client] of Object.entries(certifiedClients)) {
      for (const method of methods) {
        it(`lets ${library} read the API with ${method}`, async () => {
          const granted = await client.grant(issuer, application, method);
          assert.equal(granted.token_type, 'bearer');
          assert.equal(granted.expires_in, 3600);
          assert.equal(granted.scope, 'threads:read');
          const token = granted.access_token;
          const { status, body } = await client.read(issuer, token, `${service.baseUrl}/api/v1/threads`);
          assert.equal(status, 200);
          assert.deepEqual(
            body.threads.map(({ id }: { id: string }) => id),
            [published],
          );
        });

        it(`reports a wrong client or secret to ${library} with ${method}`, async () => {
          await client.grant(issuer, application, method);
          for (const text of awkward) {
            const strangers = [
              { clientId: text, clientSecret: text },
              { clientId: `${application.clientId}${text}`, clientSecret: application.clientSecret },
            ];
            for (const stranger of strangers) {
              const refusal = await awaitRefusal(client.grant(issuer, stranger, method));
              assert.deepEqual(refusal, { status: 401, error: 'invalid_client' }, text);
            }
          }
          const guess = { ...application, clientSecret: `${application.clientSecret}${awkward.join('')}` };
          assert.equal((await awaitRefusal(client.grant(issuer, guess, method))).error, 'invalid_client');
        });
      }

      it(`lets ${library} discover the endpoints and the keys`, async () => {
        const found = await client.discover(issuer);
        assert.equal(found.issuer, issuer);
        assert.equal(found.token_endpoint, `${issuer}/oauth2/token`);
        assert.equal(found.jwks_uri, `${issuer}/.well-known/jwks.json`);
        assert.deepEqual(found.grant_types_supported, ['client_credentials']);
        assert.deepEqual(found.token_endpoint_auth_methods_supported?.toSorted(), [...methods]);
      });

      it(`reports a rejected token to ${library}`, async () => {
        const token = await exchange(issuer, application);
        const read = client.read(issuer, `${token.slice(0, -4)}AAAA`, `${service.baseUrl}/api/v1/threads`);
        await assert.rejects(read, { code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', status: 401 });
      });
    }

    it('issues tokens that any resource server can verify with the published keys (RFC 9068)', async () => {
      const [token, other] = await Promise.all([
        exchange(issuer, application),
        exchange(issuer, application),
      ]);
      const audience = `${service.baseUrl}/api/v1`;
      const claims = await readAsResourceServer(issuer, token, audience);
      const { iat, exp, jti } = claims;
      assert.deepEqual(claims, {
        iss: issuer,
        aud: audience,
        sub: application.clientId,
        client_id: application.clientId,
        iat,
        exp: iat + 3600,
        jti,
        scope: 'threads:read',
        org_id: organization,
        epoch: 1,
      });
      assert.ok(Math.abs(Date.now() / 1000 - iat) < 60, 'issued now');
      assert.equal(exp - iat, 3600);
      assert.notEqual((await readAsResourceServer(issuer, other, audience)).jti, jti, 'each has its own jti');
      await assert.rejects(readAsResourceServer(issuer, `${token.slice(0, -4)}AAAA`, audience));
      await assert.rejects(readAsResourceServer(issuer, token, `${audience}/threads`));
    });
  });
}

/** The response of the service when a client library failed. */
async function awaitRefusal(grant: Promise<unknown>): Promise<{ status: number; error: string }> {
  const failure = await grant.then(
    () => assert.fail('the grant must fail'),
    (error: { status?: number; response?: Response }) => error,
  );
  assert.ok(failure.response instanceof Response, String(failure));
  const { error } = (await failure.response.json()) as { error: string };
  return { status: failure.response.status, error };
}
