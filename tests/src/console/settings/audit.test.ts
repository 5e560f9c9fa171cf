import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import {
  ConsoleClient,
  type ConsoleResponse,
  signedInMember,
  testPassword,
} from '../../../harness/console/console-client.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../../harness/console/settings-world.ts';
import { assertDone, assertRefused } from '../../../harness/console/visitor.ts';
import { Api } from '../../../harness/http/api.ts';
import { eventually } from '../../../harness/service/eventually.ts';
import { describeOnEachEngine } from '../../../harness/world/engines.ts';

describeOnEachEngine('The audit log in the console', (engine) => {
  let world: SettingsWorld;
  before(async () => {
    world = await sharedSettingsWorld(await engine.sharedStore());
  });

  async function found(traceId: string): Promise<any[]> {
    return assertDone(await world.ada.get(`/audit?traceId=${encodeURIComponent(traceId)}`)).events;
  }

  /** Finds the entry by the trace ID of the response, with its actor and time. */
  async function assertWritten(
    answer: ConsoleResponse,
    action: string,
    subject: string,
    detail: Record<string, unknown>,
    actor = world.email('ada'),
  ): Promise<void> {
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    const traceId = answer.headers.get('x-request-id')!;
    const events = (await found(traceId)).filter((event) => event.action === action);
    assert.equal(events.length, 1, `${action}: ${JSON.stringify(events)}`);
    const { id, at, detail: written, ...rest } = events[0];
    assert.match(id, /^evt_/);
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    const { target, isLogged: _, ...known } = rest;
    assert.deepEqual(known, { actor, action, subject, traceId });
    if (detail.name !== undefined) assert.equal(target, detail.name);
    for (const [name, value] of Object.entries(detail)) assert.deepEqual(written[name], value, name);
  }

  it('records what an admin does to keys and applications', async () => {
    const { ada } = world;
    const key = await ada.post('/keys', { name: 'Laptop', scope: 'personal' });
    const keyDetail = { name: 'Laptop', scope: 'personal', owner: world.email('ada') };
    await assertWritten(key, 'key.created', key.body.id, keyDetail);
    const revoke = await ada.post(`/keys/${key.body.id}/revoke`);
    await assertWritten(revoke, 'key.revoked', key.body.id, { name: 'Laptop' });
    const app = await ada.post('/applications', { name: 'Dashboards' });
    await assertWritten(app, 'application.created', app.body.id, { name: 'Dashboards' });
    const rotate = await ada.post(`/applications/${app.body.id}/rotate`);
    await assertWritten(rotate, 'application.rotated', app.body.id, { name: 'Dashboards' });
    const gone = await ada.delete(`/applications/${app.body.id}`);
    await assertWritten(gone, 'application.deleted', app.body.id, { name: 'Dashboards' });
    const log = JSON.stringify(assertDone(await ada.get('/audit?limit=100')));
    for (const secret of [key.body.key, app.body.clientSecret, rotate.body.clientSecret]) {
      assert.ok(!log.includes(secret), 'no secret is written down');
    }
  });

  it('records that an admin tested a question, and not its text', async () => {
    const { ada, acme } = world;
    for (const asked of [false, true]) {
      const tested = await ada.post('/documents/search', {
        question: 'Who is paid how much?',
        accountId: 'a',
        asked,
      });
      await assertWritten(tested, 'question.tested', acme, { accountId: 'a' });
      const events = await found(tested.headers.get('x-request-id')!);
      assert.ok(!JSON.stringify(events).includes('paid'));
    }
  });

  it('records when a person signs out', async () => {
    const email = world.email('carl');
    const carl = await signedInMember(world.service, world.acme, email, 'member');
    const { id: userId } = carl.session.user;
    await assertWritten(await carl.call('POST', '/sign-out'), 'session.ended', userId, {}, email);
  });

  it('records what an admin does to members and documents', async () => {
    const { ada } = world;
    const email = world.email('carol');
    const added = await ada.post('/members', { email, role: 'member', service: false });
    const { id } = added.body;
    await assertWritten(added, 'member.added', id, { email, role: 'member', service: false });
    await assertWritten(added, 'member.invited', id, {});
    const invited = await ada.post(`/members/${id}/invitation`);
    await assertWritten(invited, 'member.invited', id, {});
    const carol = new ConsoleClient(world.service.baseUrl);
    const joined = await carol.acceptInvitation(invited.body.link, testPassword);
    // An admin could use the link they hand out, so choosing the password is recorded.
    await assertWritten(joined, 'member.joined', id, { email, password: 'chosen' }, email);
    const promoted = await ada.patch(`/members/${id}`, { role: 'admin' });
    await assertWritten(promoted, 'member.role-changed', id, { email, role: 'admin' });
    await assertWritten(await ada.delete(`/members/${id}`), 'member.removed', id, { email });
    const put = await ada.upload({ name: 'a.md' }, '# A\n\nOne.\n');
    await assertWritten(put, 'document.added', put.body.id, { name: 'a.md', accountId: null, passages: 1 });
    const again = await ada.upload({ name: 'a.md' }, '# A\n\nTwo.\n');
    await assertWritten(again, 'document.replaced', put.body.id, { name: 'a.md' });
    const removed = await ada.post('/documents/remove', { ids: [put.body.id] });
    await assertWritten(removed, 'document.removed', put.body.id, { name: 'a.md' });
  });

  it('records what a member does, and what they delete through the public API', async () => {
    const { service, acme, ben } = world;
    const { id, key } = await service.skein('key', 'create', acme, '--user', world.email('ben'));
    const api = new Api(service.baseUrl, key);
    const { body } = await api.create({ prompt: 'Hello' });
    const gone = await api.delete(body.thread.id);
    await assertWritten(gone, 'thread.deleted', body.thread.id, {}, world.email('ben'));
    const revoked = await ben.post(`/keys/${id}/revoke`);
    await assertWritten(revoked, 'key.revoked', id, {}, world.email('ben'));
  });

  it('points to the request log for what an API request deleted, and not for what the console deleted', async () => {
    const { service, acme, ben } = world;
    const { key } = await service.skein('key', 'create', acme, '--user', world.email('ben'));
    const api = new Api(service.baseUrl, key);
    const deletion = async (answer: { headers: Headers }) => {
      const [event] = await found(answer.headers.get('x-request-id')!);
      assert.equal(event.action, 'thread.deleted');
      return event.isLogged;
    };
    const byConsole = (await api.create({ prompt: 'Hello' })).body.thread.id;
    const consoleAnswer = await ben.delete(`/threads/${byConsole}`);
    const byApi = (await api.create({ prompt: 'Hello' })).body.thread.id;
    const apiAnswer = await api.delete(byApi);
    await eventually(
      () => deletion(apiAnswer),
      (isLogged) => isLogged,
    );
    assert.equal(await deletion(consoleAnswer), false);
  });

  it('records what the operator does, each command with its own trace ID', async () => {
    const { service, globex, eve } = world;
    const org = (name: string, ...words: string[]) =>
      service.skein(name, words[0]!, globex, ...words.slice(1));
    await org('org', 'set', '--quota', '77');
    const { id: userId } = await org('member', 'add', world.email('olaf'));
    const key = await org('key', 'create', '--user', world.email('olaf'), '--name', 'By hand');
    await org('key', 'revoke', key.id);
    const app = await org('app', 'create', '--name', 'App');
    await org('app', 'rotate', app.id);
    await org('app', 'delete', app.id);
    writeFileSync(join(service.folder, 'note.md'), '# Note\n\nText.\n');
    const document = await org('doc', 'add', 'note.md');
    await org('doc', 'remove', document.id);
    const { key: evesKey } = await org('key', 'create', '--user', world.email('eve'));
    const thread = (await new Api(service.baseUrl, evesKey).create({ prompt: 'x' })).body.thread.id;
    await org('thread', 'publish', thread);
    await org('thread', 'unpublish', thread);
    await org('member', 'remove', world.email('olaf'));
    const { events } = assertDone(await eve.get('/audit?limit=100'));
    const done = events.filter(({ actor }: any) => actor === 'Operator').reverse();
    const expected = [
      ['organization.changed', globex],
      ['member.added', userId],
      ['member.invited', userId],
      ['key.created', key.id],
      ['key.revoked', key.id],
      ['application.created', app.id],
      ['application.rotated', app.id],
      ['application.deleted', app.id],
      ['document.added', document.id],
      ['document.removed', document.id],
    ];
    const since = done.findIndex(({ action }: any) => action === 'organization.changed');
    assert.deepEqual(
      done.slice(since, since + expected.length).map(({ action, subject }: any) => [action, subject]),
      expected,
    );
    assert.deepEqual(
      done.slice(-3).map(({ action, subject }: any) => [action, subject]),
      [
        ['thread.published', thread],
        ['thread.unpublished', thread],
        ['member.removed', userId],
      ],
    );
    assert.equal(done[0].action, 'organization.created');
    const added = done.find(({ subject }: any) => subject === userId);
    const invited = done.find(
      ({ action, subject }: any) => action === 'member.invited' && subject === userId,
    );
    assert.equal(added.traceId, invited.traceId, 'one command, one trace ID');
    assert.equal(new Set(done.slice(since).map(({ traceId }: any) => traceId)).size, done.length - since - 1);
    const listed = await service.skein('audit', globex, '--trace', added.traceId);
    assert.deepEqual(
      listed.map(({ action }: any) => action),
      ['member.invited', 'member.added'],
    );
  });

  it('finds a failed reply by the trace ID of the request that asked for it', async () => {
    const { service, ada, acme } = world;
    const { key } = assertDone(await ada.post('/keys', { name: 'x', scope: 'personal' }), 201);
    const api = new Api(service.baseUrl, key);
    const { headers, body } = await api.create({ prompt: '#fail' });
    const { status } = await api.untilDone(body.thread.id);
    assert.equal(status.state, 'error');
    const traceId = headers.get('x-request-id')!;
    const events = await eventually(
      () => found(traceId),
      (list) => list.length > 0,
    );
    assert.deepEqual(
      events.map(({ action, actor, traceId: by }) => ({ action, actor, traceId: by })),
      [{ action: 'reply.failed', actor: 'Skein', traceId }],
    );
    assert.equal((await service.skein('audit', acme, '--trace', traceId)).length, 1);
  });

  it('contains no entry for a change that was rejected', async () => {
    const { ada, ben } = world;
    for (const answer of [
      await ada.post('/keys', { name: 'x', scope: 'personal', ownerId: ben.userId }),
      await ada.post('/keys/key_nonsense/revoke'),
      await ada.delete('/members/usr_nonsense'),
      await ada.upload({ name: 'a.pdf' }, 'none'),
      await ada.post('/members', { email: world.email('ben'), role: 'admin', service: false }),
    ]) {
      assert.ok(answer.status >= 400);
      assert.deepEqual(await found(answer.headers.get('x-request-id')!), []);
    }
  });

  it('lists entries page by page, newest first, each once', async () => {
    const { ada } = world;
    // The request log is written about a second later than the audit log.
    const read = async (query: string) => {
      const { events, nextCursor } = assertDone(await ada.get(`/audit?${query}`));
      return { events: events.map(({ isLogged: _, ...event }: any) => event), nextCursor };
    };
    const whole: any[] = (await read('limit=100')).events;
    assert.ok(whole.length > 15 && whole.length < 100);
    assert.deepEqual(
      whole.map(({ at }) => at),
      whole
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    const walked: any[] = [];
    let query = 'limit=7';
    for (let cursor: string | null = ''; cursor !== null; query = `limit=7&cursor=${cursor}`) {
      const page = await read(query);
      walked.push(...page.events);
      cursor = page.nextCursor;
    }
    assert.deepEqual(walked, whole);
  });

  describe('rejects', () => {
    it('an invalid page size, and a cursor from another listing', async () => {
      const { ada, eve } = world;
      for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=', 'cursor=x', 'traceId=']) {
        assertRefused(await ada.get(`/audit?${query}`), 400);
      }
      const { nextCursor } = assertDone(await ada.get('/audit?limit=1'));
      assert.ok(nextCursor);
      assertRefused(await eve.get(`/audit?cursor=${nextCursor}`), 400);
      assertRefused(await ada.get(`/audit?traceId=x&cursor=${nextCursor}`), 400);
    });
  });

  describe('protects', () => {
    it('the log from members, and from other organizations, even by trace ID', async () => {
      const { ada, ben, eve, acme } = world;
      const made = await ada.post('/keys', { name: 'x', scope: 'org-wide' });
      const traceId = made.headers.get('x-request-id')!;
      assert.equal((await found(traceId)).length, 1);
      assertRefused(await ben.get('/audit'), 403);
      assertRefused(await eve.intrude(acme, 'GET', '/audit'), 404);
      assert.deepEqual(assertDone(await eve.get(`/audit?traceId=${traceId}`)).events, []);
    });
  });

  it('is filtered by person, action and day, and exported as CSV that no spreadsheet runs', async () => {
    const { ada, ben } = world;
    const formula = '=HYPERLINK("http://evil.example")';
    assertDone(await ada.post('/keys', { name: formula, scope: 'org-wide' }), 201);
    const list = async (query: string) => assertDone(await ada.get(`/audit?limit=100&${query}`)).events;
    const byAda = await list(`actor=${ada.userId}`);
    assert.ok(byAda.length > 0 && byAda.every(({ actor }: any) => actor === world.email('ada')));
    const operators = await list('actor=operator&action=member.invited');
    assert.ok(operators.length > 0 && operators.every(({ actor }: any) => actor === 'Operator'));
    assert.ok(
      operators.some(({ target }: any) => target === world.email('ben')),
      'people have names',
    );
    assert.deepEqual(await list(`actor=${ada.userId}&to=2020-01-01`), []);
    assert.deepEqual(await list(`actor=${world.eve.userId}`), []);
    assertRefused(await ada.get('/audit?from=2026-99-99'), 400);

    const url = `${ada.client.baseUrl}/console/organizations/${world.acme}/audit/export?action=key.created`;
    const cookie = [...ada.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { headers: { cookie } });
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.match(answer.headers.get('content-disposition')!, /^attachment; filename="audit-log\.csv"$/);
    const lines = (await answer.text()).trimEnd().split('\r\n');
    assert.equal(lines[0], '"time","actor","action","target_id","target","details","trace_id"');
    assert.equal(lines.length - 1, (await list('action=key.created')).length);
    assert.ok(lines[1]!.includes(`"'=HYPERLINK(""http://evil.example"")"`), lines[1]);
    const traceId = answer.headers.get('x-request-id')!;
    assert.deepEqual(
      (await found(traceId)).map(({ action, subject, detail }) => [action, subject, detail]),
      [['audit.exported', world.acme, { from: null, to: null }]],
    );
    const ofDays = await fetch(`${url}&from=2026-01-02&to=2026-01-03`, { headers: { cookie } });
    await ofDays.arrayBuffer();
    const [exported] = await found(ofDays.headers.get('x-request-id')!);
    assert.deepEqual(exported.detail, { from: '2026-01-02', to: '2026-01-03' });
    const refused = await ben.get('/audit/export');
    assertRefused(refused, 403);
    assert.deepEqual(await found(refused.headers.get('x-request-id')!), []);
    assertRefused(await world.eve.client.call('GET', `/organizations/${world.acme}/audit/export`), 404);
  });
});
