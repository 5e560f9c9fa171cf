import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { ConsoleClient, testPassword } from '../../harness/console/console-client.ts';
import { assertDone, Visitor } from '../../harness/console/visitor.ts';
import type { Api } from '../../harness/http/api.ts';
import { assertEnvelope, RawConnection, type RawResponse } from '../../harness/http/raw-http.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';
import {
  type IssuedKey,
  makeMember,
  makeOrganization,
  makeOrgWideKey,
  makePersonalKey,
} from '../../harness/world/tenants.ts';

const email = 'ada@example.com';
/** Commands that run while a body is being sent take seconds each on a busy machine. */
const settings = { SKEIN_REQUEST_TIMEOUT_MS: '300000' };

/** A request whose headers and part of the body have arrived. */
interface Begun {
  /** Sends the rest and returns the response. */
  finish(): Promise<RawResponse>;
}

describeOnEachEngine('A change whose body arrives late', ({ freshStore }) => {
  let service: Service;
  let acme: string;
  let ada: IssuedKey;
  let wide: IssuedKey;
  let thread: string;
  before(async () => {
    service = await startWithoutDemo({ ...(await freshStore()), ...settings });
    acme = await makeOrganization(service, 'Acme');
    ada = await makeMember(service, acme, email);
    wide = await makeOrgWideKey(service, acme);
    thread = (await ada.api.create({ prompt: 'Hello', title: 'As it was' })).body.thread.id;
    await service.skein('thread', 'publish', acme, thread);
  });
  after(() => service?.end());

  async function begin(target: string, lines: string[], body: string, type = 'json'): Promise<Begun> {
    const connection = await RawConnection.open(service);
    const [method = '', path] = target.split(' ');
    const head = [
      `${method} ${path} HTTP/1.1`,
      'Host: skein.test',
      `Content-Type: application/${type}`,
      `Content-Length: ${body.length}`,
      ...lines,
    ];
    connection.send(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
    const finish = async () => {
      connection.send(body.slice(5));
      const answer = await connection.answer(method);
      connection.close();
      return answer;
    };
    return { finish };
  }

  /** Every write with the key, after the service has admitted all of them. */
  async function beginAll({ key }: Pick<IssuedKey, 'key'>): Promise<Begun[]> {
    const remaining = await remainingFor(wide.api);
    const authorization = `Authorization: Bearer ${key}`;
    const create = '{"prompt":"Too late"}';
    const begun = [
      await begin('POST /api/v1/threads', [authorization], create),
      await begin('POST /api/v1/threads', [authorization, 'Idempotency-Key: late'], create),
      await begin(`PATCH /api/v1/threads/${thread}`, [authorization], '{"title":"Too late"}'),
      await begin(`DELETE /api/v1/threads/${thread}`, [authorization], '{"title":"Too late"}'),
    ];
    for (let asked = 1; (await remainingFor(wide.api)) > remaining - begun.length - asked; asked += 1);
    return begun;
  }

  async function remainingFor(api: Api): Promise<number> {
    const { headers } = await api.list({ limit: 1 });
    return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  }

  async function assertRefused(begun: Begun[], status: 401 | 404, message: RegExp): Promise<void> {
    for (const { finish } of begun) {
      const answer = await finish();
      assert.equal(answer.status, status, answer.body);
      assert.match(assertEnvelope(answer), message);
    }
    const { body } = await wide.api.get(thread);
    assert.equal(body.thread.title, 'As it was');
  }

  it('succeeds if nothing was revoked meanwhile', async () => {
    const authorization = `Authorization: Bearer ${ada.key}`;
    const late = await begin('POST /api/v1/threads', [authorization], '{"prompt":"In time"}');
    const answer = await late.finish();
    assert.equal(answer.status, 201, answer.body);
    assert.equal((await ada.api.delete(JSON.parse(answer.body).thread.id)).status, 200);
  });

  it('is rejected if the key was revoked meanwhile', async () => {
    const begun = await beginAll(ada);
    await service.skein('key', 'revoke', acme, ada.id);
    await assertRefused(begun, 401, /revoked/);
    ada = await makePersonalKey(service, acme, email);
    assert.deepEqual(
      (await ada.api.walk()).map(({ id }) => id),
      [thread],
    );
  });

  it('is rejected if the public API was disabled meanwhile', async () => {
    const begun = await beginAll(ada);
    await service.skein('org', 'set', acme, '--api', 'off');
    const answers = Promise.all(begun.map(({ finish }) => finish()));
    for (const answer of await answers) {
      assert.equal(answer.status, 404, answer.body);
      assert.match(assertEnvelope(answer), /not enabled/);
    }
    await service.skein('org', 'set', acme, '--api', 'on');
    assert.deepEqual(
      (await ada.api.walk()).map(({ title }) => title),
      ['As it was'],
    );
  });

  it('is rejected if the key’s owner was removed meanwhile', async () => {
    const begun = await beginAll(ada);
    await service.skein('member', 'remove', acme, email);
    await assertRefused(begun, 401, /revoked/);
  });

  it('is rejected in the console if the session or the membership has ended', async () => {
    const { invitation } = await service.skein('member', 'add', acme, 'ben@example.com', '--role', 'admin');
    const ben = new Visitor(new ConsoleClient(service.baseUrl), acme);
    assertDone(await ben.client.acceptInvitation(invitation, testPassword));
    const own = (await ben.post('/threads', { prompt: 'Hello', title: 'As it was' })).body.thread.id;
    const beginConsole = async () => {
      const cookies = [...ben.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const lines = [`Cookie: ${cookies}`, `X-Skein-Csrf: ${ben.client.csrfToken}`];
      const under = `/console/organizations/${acme}`;
      const begun = [
        await begin(`POST ${under}/threads`, lines, '{"prompt":"Too late"}'),
        await begin(`PATCH ${under}/threads/${own}`, lines, '{"title":"Too late"}'),
        await begin(`POST ${under}/keys`, lines, '{"name":"Too late","scope":"org-wide"}'),
        await begin(`POST ${under}/documents?name=late.md`, lines, 'Too late to be read.', 'octet-stream'),
        await begin(`POST /console/password`, lines, `{"current":"${testPassword}","next":"too late now"}`),
      ];
      // The service takes requests in the order of their arrival.
      for (let times = 0; times < 3; times += 1) assertDone(await ben.get('/threads'));
      return begun;
    };
    const countKeys = async () => (await service.skein('key', 'list', acme)).length;
    const before = await countKeys();

    const ended = await beginConsole();
    assertDone(await ben.client.post('/sign-out'));
    for (const { finish } of ended) {
      const answer = await finish();
      assert.equal(answer.status, 401, answer.body);
    }

    assertDone(await ben.client.signIn('ben@example.com', testPassword));
    const removed = await beginConsole();
    await service.skein('member', 'remove', acme, 'ben@example.com');
    for (const { finish } of removed.slice(0, 4)) {
      const answer = await finish();
      assert.equal(answer.status, 404, answer.body);
    }
    assert.equal(await countKeys(), before);
    assert.deepEqual(await service.skein('doc', 'list', acme), []);

    const back = await service.skein('member', 'add', acme, 'ben@example.com');
    const again = new ConsoleClient(service.baseUrl);
    assertDone(await again.acceptInvitation(back.invitation, testPassword));
    const { threads } = assertDone(await new Visitor(again, acme).get('/threads?scope=mine'));
    assert.deepEqual(
      threads.map(({ title }: { title: string }) => title),
      ['As it was'],
    );
  });
});
