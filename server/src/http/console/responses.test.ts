import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import { Errors } from 'typebox/value';
import { composeSkein, openLog, openStore, type Skein } from '../../compose.ts';
import { machine } from '../../compose-use-cases.ts';
import { readConfig } from '../../config/config.ts';
import { forbidden } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import { hourMs } from '../../domain/time.ts';
import type { Store } from '../../storage/port/store.ts';
import type { Json } from '../schema.ts';
import { HeldRequests } from '../wire/index.ts';
import { consoleRoutes } from './index.ts';
import type { ConsoleRoute } from './route.ts';
import type { sessionSchema } from './session-schemas.ts';
import type * as settings from './setting-schemas.ts';
import * as threads from './thread-schemas.ts';

const password = 'seven green otters';
const options = {
  limits: defaultLimits,
  model: { name: '', provider: null, test: async () => undefined },
  uploadFolder: '',
  searchPassages: async () => ({ searched: 0, passages: [] }),
  authUrl: () => '',
  secure: false,
  heldRequests: new HeldRequests(),
  report: () => {},
};
const nameOf = ({ method, url }: { method: string; url: string }) => `${method} ${url}`;

interface Person {
  cookie: string;
  csrf: string;
}

interface Sent {
  readonly as?: Person;
  readonly id?: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly file?: string;
}

function assertMatches(schema: TSchema, value: unknown, name: string): void {
  const faults = Errors(schema, value).map(({ instancePath, message }) => `${instancePath} ${message}`);
  assert.deepEqual(faults, [], `${name}: ${JSON.stringify(value)}`);
}

const log = await openLog('silent');

describe('Responses of the console routes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-responses-'));
  const config = readConfig({
    SKEIN_DATABASE_URL: `sqlite:${join(folder, 'skein.db')}`,
    // There is no mail server: emails stay in the store.
    SKEIN_SMTP_URL: 'smtp://127.0.0.1:1',
    SKEIN_MAIL_FROM: 'skein@example.com',
    SKEIN_MODEL: 'scripted',
  });
  const checked = new Set<string>();
  const stranger: Person = { cookie: '', csrf: 'none' };
  const admin: Person = { cookie: '', csrf: 'none' };
  const member: Person = { cookie: '', csrf: 'none' };
  let store: Store;
  let skein: Skein;
  let routes: readonly ConsoleRoute[];
  let app: FastifyInstance;
  let organizationId: OrganizationId;
  let invitations: string[];

  before(async () => {
    const baseUrl = () => `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    store = await openStore(config);
    skein = await composeSkein(config, store, { baseUrl });
    routes = consoleRoutes({ ...skein.useCases, ...machine, limits: config.limits, baseUrl }, options);
    app = await skein.composeApp(log);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const initiator = skein.operator();
    organizationId = await skein.useCases.organizations.create(initiator, { name: 'Acme' });
    const add = async (email: string, role: 'admin' | 'member') =>
      (
        await skein.useCases.members.add({ organizationId, initiator }, { email, role })
      ).invitation?.link?.split('#')[1] ?? '';
    invitations = [await add('ada@acme.example', 'admin'), await add('ben@acme.example', 'member')];
  });
  after(async () => {
    await app.close();
    await skein.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function send(name: string, { as = admin, id = '', query = '', body, file }: Sent = {}): Promise<Response> {
    const route = routes.find((one) => nameOf(one) === name);
    assert.ok(route, `there is no route ${name}`);
    const path = (isInOrganization(route.caller) ? `/organizations/${organizationId}` : '') + route.url;
    const { port } = app.server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${port}/console${path.replace(':id', id)}${query}`, {
      method: route.method,
      headers: {
        cookie: as.cookie,
        ...(route.method !== 'GET' && { 'x-skein-csrf': as.csrf }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(file !== undefined && { 'content-type': 'application/octet-stream' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(file !== undefined && { body: file }),
    });
  }

  /** Checks the response against the schema of its route, and returns it. */
  async function call<Body = { readonly id: string }>(name: string, sent: Sent = {}): Promise<Body> {
    const { status = 200, response } = routes.find((one) => nameOf(one) === name)!;
    const answer = await send(name, sent);
    const json: unknown = await answer.json();
    assert.equal(answer.status, status, `${name}: ${JSON.stringify(json)}`);
    assert.ok(response);
    assertMatches(response, json, name);
    checked.add(name);
    const [cookie] = answer.headers.getSetCookie();
    if (cookie?.startsWith('skein=') && sent.as) sent.as.cookie = cookie.split(';', 1)[0]!;
    const { csrfToken } = json as { csrfToken?: string };
    if (sent.as && csrfToken) sent.as.csrf = csrfToken;
    return json as Body;
  }

  it('match their schemas while people sign in', async () => {
    await call('GET /sign-in', { as: stranger });
    await call('POST /password-link', { as: stranger, body: { email: 'nobody@example.com' } });
    for (const [index, person] of [admin, member].entries()) {
      const token = invitations[index];
      await call('POST /invitation/read', { as: person, body: { token } });
      await call('POST /invitation/accept', { as: person, body: { token, password } });
    }
    const { organizations } = await call<Json<typeof sessionSchema>>('GET /session', { as: admin });
    assert.equal(organizations.length, 1);
    await call('POST /password', { as: member, body: { current: password, next: `${password}, and two` } });
    member.csrf = 'none';
    await call('POST /sign-in', {
      as: member,
      body: { email: 'ben@acme.example', password: `${password}, and two` },
    });
  });

  it('match their schemas for threads', async () => {
    const { thread } = await call<Json<typeof threads.threadViewSchema>>('POST /threads', {
      body: { prompt: '#step Read\n#say Hi', accountId: 'acc_1' },
    });
    const { id } = thread;
    await call('POST /threads/:id/stop', { id });
    await call('POST /threads/:id/retry', { id });
    await call('POST /threads/:id/stop', { id });
    const { messages } = await call<Json<typeof threads.threadViewSchema>>('GET /threads/:id', { id });
    const rating = { messageId: messages.at(-1)!.id, value: 'down', comment: 'Wrong.' };
    await call('PUT /threads/:id/rating', { id, body: rating });
    assert.deepEqual(
      (await call<Json<typeof threads.ratingsSchema>>('GET /threads/:id/ratings', { id })).ratings,
      [rating],
    );
    assert.equal(
      (await call<Json<typeof threads.unansweredPageSchema>>('GET /unanswered')).replies[0]?.complaints
        .length,
      1,
    );
    await call('PATCH /threads/:id', { id, body: { title: 'Renamed' } });
    await call('PUT /threads/:id/published', { id, body: { published: true } });
    assert.equal(
      (await call<Json<typeof threads.threadListSchema>>('GET /threads', { query: '?limit=1' })).threads
        .length,
      1,
    );
    assert.deepEqual((await call<Json<typeof threads.accountsSchema>>('GET /accounts')).accounts, ['acc_1']);
    await call('GET /home/:id', { id });
    assert.equal(
      (await call<Json<typeof threads.threadViewSchema>>('GET /threads/:id', { id, as: member })).messages.at(
        -1,
      )?.role,
      'assistant',
    );
    await call('DELETE /threads/:id', { id });
    await call('POST /threads/:id/restore', { id });
    await call('POST /threads/:id/messages', {
      id,
      body: { prompt: '#step Read\n#say Hi\n#source A\n#hang', replaces: messages[0]!.id },
    });

    const events = (await send('GET /threads/:id/events', { id })).body!;
    const { worker } = await skein.startWorker(log);
    const seen = new Set<string>();
    let text = '';
    for await (const chunk of events) {
      text += Buffer.from(chunk).toString();
      const whole = text.split('\n\n');
      text = whole.pop()!;
      for (const event of whole) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/m.exec(event) ?? [];
        if (name === undefined) continue;
        assertMatches(
          threads.threadEventSchemas[name as keyof typeof threads.threadEventSchemas],
          JSON.parse(data!),
          name,
        );
        if (name === 'progress' && !seen.has(name)) await call('DELETE /threads/:id', { id });
        seen.add(name);
      }
    }
    await worker.stop();
    assert.deepEqual([...seen].sort(), ['gone', 'progress', 'view']);
  });

  it('match their schemas for keys and applications', async () => {
    const made = await call('POST /keys', { body: { name: 'CI', scope: 'personal' } });
    const rotated = await call('POST /keys/:id/rotate', { id: made.id, body: { oldValidFor: '1h' } });
    await call('POST /keys/:id/revoke', { id: rotated.id });
    const ask = () => call('POST /key-requests', { as: member, body: { name: 'Laptop' } });
    const [approved, declined] = [await ask(), await ask()];
    await call('POST /key-requests/:id/approve', { id: approved.id });
    await call('POST /key-requests/:id/decline', { id: declined.id });
    await call('POST /key-requests/:id/reveal', { as: member, id: approved.id });
    assert.ok((await call<Json<typeof settings.keysSchema>>('GET /keys')).keys.length >= 3);

    const { id } = await call('POST /applications', { body: { name: 'Nightly' } });
    await call('POST /applications/:id/rotate', { id });
    assert.equal(
      (await call<Json<typeof settings.applicationsSchema>>('GET /applications')).applications.length,
      1,
    );
    await call('DELETE /applications/:id', { id });
  });

  it('match their schemas for members, documents, the model, usage and the audit log', async () => {
    const added = await call('POST /members', {
      body: { email: 'cy@acme.example', role: 'member', service: false },
    });
    await call('POST /members/:id/invitation', { id: added.id });
    await call('PATCH /members/:id', { id: added.id, body: { role: 'admin' } });
    assert.equal((await call<Json<typeof settings.membersSchema>>('GET /members')).members.length, 3);
    await call('DELETE /members/:id', { id: added.id });

    const document = await call('POST /documents', {
      query: '?name=a.md',
      file: '# Refunds\n\nThirty days.\n',
    });
    assert.equal((await call<Json<typeof settings.documentsSchema>>('GET /documents')).documents.length, 1);
    await call('GET /documents/:id', { id: document.id, query: '?cited=Thirty%20days.' });
    await call('GET /documents/:id/passages', { id: document.id, query: '?skip=0&limit=10' });
    await call('GET /home/:id', { id: document.id });
    const question = { question: 'Thirty days?', asked: true };
    const { passages } = await call<Json<typeof settings.foundPassagesSchema>>('POST /documents/search', {
      body: question,
    });
    assert.equal(passages.length, 1);
    await call('POST /documents/remove', { body: { ids: [document.id] } });

    await call('GET /examples');
    await call('GET /first-steps');
    await call('GET /model');
    await call('POST /model/test');
    await call('GET /usage');
    await call('GET /requests', { query: '?status=NOT_FOUND&from=2026-01-01' });
    assert.ok((await call<Json<typeof settings.auditSchema>>('GET /audit')).events.length > 10);
  });

  it('tell a member that counts of earlier days are left out', async () => {
    const usage = () => call<Json<typeof settings.usageSchema>>('GET /usage', { as: member });
    assert.equal((await usage()).isCut, false);
    const { members } = await call<Json<typeof settings.membersSchema>>('GET /members');
    const { id: userId } = members.find(({ email }) => email === 'ben@acme.example')!;
    const change = { organizationId, initiator: skein.operator() };
    const { id: credentialId } = await skein.useCases.keys.create(change, { userId, name: 'Busy' });
    const at = Date.now();
    const hour = Math.floor(at / hourMs);
    const used = { organizationId, credentialId, outcome: 'OK', hour, bucket: 0, requests: 1, lastAt: at };
    const reports = Array.from({ length: 5_001 }, (_, place) => ({
      ...used,
      operation: `operation ${place}`,
    }));
    while (reports.length > 0) assert.ok(await store.addTraffic(reports.splice(0, 200)));
    const { isCut, counts } = await usage();
    assert.deepEqual([isCut, counts.length], [true, 5_000]);
    assert.equal(
      (await call<Json<typeof settings.usageSchema>>('GET /usage')).isCut,
      false,
      'an admin sees the traffic of every day',
    );
  });

  it('end with the role of the reader if they are an export of the audit log', async () => {
    const route = routes.find((one) => nameOf(one) === 'GET /audit/export')!;
    let sent: Readable | undefined;
    const reply = {
      header: () => reply,
      send: (body: Readable) => {
        sent = body;
      },
    };
    const recheck = () => Promise.reject(forbidden('No longer an admin.'));
    const initiator = skein.operator();
    const call = { organizationId, initiator, query: {}, reply, recheck };
    await route.handle(call as unknown as Parameters<typeof route.handle>[0]);
    await assert.rejects(sent!.toArray(), { code: 'FORBIDDEN' });
  });

  it('match their schemas when a person accepts an organization after single sign-on, and signs out', async () => {
    const { members, sessions } = skein.useCases;
    const change = { organizationId, initiator: skein.operator() };
    const { userId } = await members.add(change, { email: 'di@acme.example' });
    const started = await sessions.start(userId, null, 'trace');
    const invited: Person = { cookie: `skein=${started?.token}`, csrf: 'none' };
    const { invitations: pending } = await call<Json<typeof sessionSchema>>('GET /session', { as: invited });
    assert.equal(pending.length, 1);
    await call('POST /invitations/:id/accept', { as: invited, id: organizationId });
    await call('POST /sign-out', { as: invited });
    await call('POST /sign-out-everywhere', { as: member });
  });

  it('were checked for every route that has a schema', () => {
    const declared = routes.filter(({ response }) => response !== null).map(nameOf);
    assert.deepEqual([...checked].sort(), declared.sort());
  });
});

function isInOrganization(caller: string): boolean {
  return caller === 'member' || caller === 'admin';
}
