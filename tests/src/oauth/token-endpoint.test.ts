import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEnvelope } from '../../harness/http/raw-http.ts';
import {
  assertIssued,
  assertRefused,
  base64,
  byAuthorization,
  byBasic,
  byBody,
  form,
  grant,
  type OAuthErrorName,
  sendTokenRequest,
  type TokenRequest,
  type TokenResponse,
} from '../../harness/oauth/token-requests.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { type IssuedApplication, makeApplication } from '../../harness/world/applications.ts';
import { startWorld, type World } from '../../harness/world/world.ts';
import { type Clients, canary, formBytesMax, refusals } from './refused-requests.ts';

describe('The token endpoint', () => {
  let world: World;
  let clients: Clients;
  let app: IssuedApplication;
  before(async () => {
    world = await startWorld({ SKEIN_LOG_LEVEL: 'trace' });
    clients = await makeClients(world);
    app = clients.app;
  });
  after(() => world.end());

  const send = (request: TokenRequest): Promise<TokenResponse> =>
    sendTokenRequest(world.service.baseUrl, request);
  const secrets = () => Object.values(clients).map(({ clientSecret }) => clientSecret);

  async function accepts(requests: Record<string, TokenRequest>): Promise<void> {
    for (const [what, request] of Object.entries(requests)) {
      const token = assertIssued(await send(request), what);
      assert.equal((await world.as(token).list()).status, 200, what);
    }
  }

  async function refuses(error: OAuthErrorName, what: string, request: TokenRequest): Promise<void> {
    assertRefused(await send(request), error, what, [...secrets(), canary]);
  }

  describe('accepts', () => {
    it('issues a token for client ID and secret in the body', () => accepts({ 'the body': byBody(app) }));

    it('issues a token for HTTP Basic, with the scheme in any case', async () => {
      const encoded = base64(`${app.clientId}:${app.clientSecret}`);
      await accepts({
        encoded: byBasic(app),
        plain: byAuthorization(`Basic ${encoded}`),
        'lower case': byAuthorization(`basic ${encoded}`),
        'upper case': byAuthorization(`BASIC ${encoded}`),
        'two spaces': byAuthorization(`Basic  ${encoded}`),
        'the same client_id in the body': byBasic(app, `${grant}&client_id=${app.clientId}`),
        'the same client_id, encoded': byBasic(app, `${grant}&client_id=${percentEncoded(app.clientId)}`),
      });
    });

    it('form-decodes both halves of Basic and every parameter', async () => {
      const { clientId, clientSecret } = app;
      const [id, secret] = [percentEncoded(clientId), percentEncoded(clientSecret)];
      await accepts({
        'Basic, both halves': byAuthorization(`Basic ${base64(`${id}:${secret}`)}`),
        'Basic, lower-case hexadecimal digits': byAuthorization(
          `Basic ${base64(`${id.toLowerCase()}:${secret.toLowerCase()}`)}`,
        ),
        'the body': form(
          `grant_type=${percentEncoded('client_credentials')}&client_id=${id}&client_secret=${secret}`,
        ),
        'names in the body': form(
          `%67rant_type=client_credentials&client%5Fid=${id}&client%5fsecret=${secret}`,
        ),
      });
    });

    it('accepts the media type in any spelling, with any parameter', async () => {
      const { body } = byBody(app);
      const spellings = [
        'application/x-www-form-urlencoded; charset=utf-8',
        'application/x-www-form-urlencoded;charset=UTF-8',
        'application/x-www-form-urlencoded ; charset="utf-8"',
        'Application/X-WWW-Form-Urlencoded',
        'application/x-www-form-urlencoded;',
        'application/x-www-form-urlencoded; boundary=x',
      ];
      await accepts(
        Object.fromEntries(
          spellings.map((type) => [type, { headers: [['content-type', type]], body: body as string }]),
        ),
      );
    });

    it('treats a parameter without a value as missing', () =>
      accepts({
        'empty scope': byBody(app, { scope: '', audience: '', '': '' }),
        'Basic with an empty client_secret': byBasic(app, `${grant}&client_secret=&client_id=`),
        'a name alone': form(`${byBody(app).body}&scope`),
        'empty pairs': form(`&&${byBody(app).body}&&`),
      }));

    it('ignores unknown parameters', () =>
      accepts({
        unknown: byBody(app, {
          resource: 'https://x.example',
          audience: 'y',
          foo: canary,
          ['__proto__']: 'z',
        }),
        'an unknown authentication method': byBody(app, {
          client_assertion: canary,
          client_assertion_type: 'x',
        }),
        'another scope': byBody(app, { scope: 'threads:write admin' }),
      }));

    it('ignores the query', () =>
      accepts({
        'a wrong grant type there': { ...byBody(app), path: '/oauth2/token?grant_type=password' },
        'another client there': { ...byBody(app), path: `/oauth2/token?client_id=x&client_secret=${canary}` },
        'a broken one': { ...byBasic(app), path: '/oauth2/token?%zz&&=&client_secret' },
      }));

    it('accepts a chunked body, and one of the maximum size', async () => {
      const padding = formBytesMax - Buffer.byteLength(`${byBody(app).body}&padding=`);
      await accepts({
        chunked: { ...byBody(app), chunked: true },
        'the longest': form(`${byBody(app).body}&padding=${'x'.repeat(padding)}`),
      });
    });

    it('returns JSON for any Accept header, with a new token each time', async () => {
      const tokens = new Set<string>();
      for (const accept of ['text/html', 'application/xml;q=1', '*/*']) {
        const { headers = [], ...rest } = byBody(app);
        tokens.add(assertIssued(await send({ ...rest, headers: [...headers, ['accept', accept]] })));
      }
      assert.equal(tokens.size, 3);
    });

    it('issues tokens for the new secret after a rotation', () =>
      accepts({ body: byBody(clients.rotated), basic: byBasic(clients.rotated) }));
  });

  describe('rejects', () => {
    for (const [guarantee, { error, requests }] of Object.entries(refusals)) {
      it(guarantee, async () => {
        const refused = Object.entries(requests(clients));
        assert.ok(refused.length > 0);
        for (const [what, request] of refused) await refuses(error, what, request);
      });
    }

    it("returns NOT_FOUND for other methods and spellings, with the API's error envelope", async () => {
      assertIssued(await send(byBody(app)));
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        await assertNotFound({ method, ...(method === 'PUT' && byBody(app)) });
      }
      for (const path of [
        '/oauth2/token/',
        '/oauth2/Token',
        '/oauth2',
        '/oauth2/authorize',
        '/token',
        '/api/oauth2/token',
      ]) {
        await assertNotFound({ ...byBody(app), path });
      }
    });
  });

  describe('protects', () => {
    it('counts nothing against the quota, whatever the outcome', async () => {
      const remaining = async () => {
        const { headers } = await world.acmeWide.list();
        return Number(/r=(\d+)/.exec(headers.get('ratelimit') as string)?.[1]);
      };
      const sawBefore = await remaining();
      assertIssued(await send(byBody(app)));
      assertIssued(await send(byBasic(app)));
      await refuses('invalid_client', 'a wrong secret', byBody({ ...app, clientSecret: canary }));
      await refuses('unsupported_grant_type', 'password', byBody(app, { grant_type: 'password' }));
      assert.equal(await remaining(), sawBefore - 1, 'only the look at it counts');
    });

    it('returns the same response for an unknown client and a wrong secret', async () => {
      const answers = await Promise.all(
        [
          { ...app, clientSecret: canary },
          { ...app, clientId: canary },
          clients.deleted,
          { ...clients.outside, clientSecret: canary },
        ].map((client) => send(byBody(client))),
      );
      const [first, ...others] = answers.map(({ status, headers, text }) => {
        const shown = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
        return { status, shown, text };
      });
      assert.equal(first?.status, 401);
      for (const other of others) assert.deepEqual(other, first);
    });

    it('writes neither secrets nor tokens to the log, even at its most detailed level', async () => {
      const token = assertIssued(await send(byBody(app)));
      await send(byBody({ clientId: canary, clientSecret: canary }, { [canary]: canary }));
      await send({ ...byBasic(app), path: `/oauth2/token?client_secret=${canary}` });
      await world.as(token).list();
      const { headers } = await world.as(`${token}x`).list();
      const traceId = headers.get('x-request-id') as string;
      const log = await eventually(
        () => world.service.output.join('\n'),
        (text) => text.includes(traceId),
      );
      assert.match(log, /"route":"\/oauth2\/token","status":200/);
      assert.match(log, /"route":"\/oauth2\/token","status":401/);
      assert.ok(log.includes(app.clientId), 'the log names the application');
      const basic = base64(`${app.clientId}:${app.clientSecret}`);
      const hidden = [...secrets(), basic, token, token.split('.')[2] as string, canary];
      for (const text of hidden) assert.ok(!log.includes(text), `the log holds ${text}`);
    });
  });

  async function assertNotFound(request: TokenRequest): Promise<void> {
    const answer = await send(request);
    assert.equal(answer.status, 404, `${request.method} ${request.path}`);
    assertEnvelope({ status: answer.status, headers: answer.headers, body: answer.text }, request.method);
  }
});

async function makeClients({ service, acme, globex, wideKey }: World): Promise<Clients> {
  const { id: leaving } = await service.skein('org', 'create', 'Leaving');
  const [app, colleague, foreign, deleted, stale, outside] = await Promise.all([
    makeApplication(service, acme),
    makeApplication(service, acme),
    makeApplication(service, globex),
    makeApplication(service, acme),
    makeApplication(service, acme),
    makeApplication(service, leaving),
  ]);
  for (const good of [app, colleague, foreign, deleted, stale, outside]) {
    assertIssued(await sendTokenRequest(service.baseUrl, byBody(good)));
  }
  const [rotated] = await Promise.all([
    service.skein('app', 'rotate', acme, stale.clientId),
    service.skein('app', 'delete', acme, deleted.clientId),
    service.skein('org', 'set', leaving, '--api', 'off'),
  ]);
  const apiKey = { clientId: wideKey.id, clientSecret: wideKey.key };
  return { app, colleague, foreign, deleted, stale, rotated, outside, apiKey };
}

function percentEncoded(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}
