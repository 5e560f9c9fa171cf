import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { describeOnEachEngine } from '../engines.ts';
import { eventually } from '../eventually.ts';
import type { ConsoleAnswer } from './console-client.ts';
import { type SettingsWorld, sharedSettingsWorld } from './settings-world.ts';
import { ask, at, untilEnded } from './thread-calls.ts';
import { assertDone, assertRefused, type Visitor } from './visitor.ts';

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describeOnEachEngine('Threads in the console', ({ sharedStore }) => {
  let world: SettingsWorld;
  let ada: Visitor;
  let ben: Visitor;
  let eve: Visitor;
  before(async () => {
    world = await sharedSettingsWorld(await sharedStore());
    ({ ada, ben, eve } = world);
  });

  const publish = (visitor: Visitor, id: string, published = true) =>
    visitor.call('PUT', at(id, '/published'), { body: { published } });
  const titlesOf = (body: any): string[] => body.threads.map(({ title }: any) => title);

  async function walk(visitor: Visitor, query: Record<string, string>): Promise<any[]> {
    const threads: any[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const asked = new URLSearchParams({ ...query, ...(cursor && { cursor }) });
      const body = assertDone(await visitor.get(`/threads?${asked}`));
      threads.push(...body.threads);
      cursor = body.nextCursor;
    }
    return threads;
  }

  describe('are created', () => {
    it('with only a prompt, and shown unchanged', async () => {
      const { thread, messages, state } = await ask(ada, 'What is a skein?\nAnd a hank?');
      assert.deepEqual(
        [thread.title, thread.accountId, thread.published, thread.mine, thread.createdBy, thread.updatedAt],
        ['What is a skein?', null, false, true, world.email('ada'), null],
      );
      assert.deepEqual([messages.length, messages[0].role, messages[1].role], [2, 'user', 'assistant']);
      assert.equal(state === 'in_progress' || state === 'idle', true);
      const ended = await untilEnded(ada, thread.id);
      const [, reply] = ended.messages;
      assert.deepEqual([ended.state, reply.status, reply.model], ['idle', 'completed', 'scripted']);
      assert.match(reply.content, /What is a skein\?/);
      assert.match(reply.completedAt, isoTime);
      assert.deepEqual(
        reply.steps.map(({ description }: any) => description),
        ['Reading the prompt'],
      );
      assert.ok(Number.isInteger(reply.steps[0].elapsedMs) && reply.steps[0].elapsedMs >= 0);
    });

    it('with a title and an account, once for each idempotency key', async () => {
      const body = { prompt: 'Hello', title: 'Titled', accountId: 'acct_once' };
      const headers = { 'idempotency-key': 'console-1' };
      const create = (change = {}) => ada.call('POST', '/threads', { body: { ...body, ...change }, headers });
      const first = assertDone(await create(), 201);
      assert.deepEqual([first.thread.title, first.thread.accountId], ['Titled', 'acct_once']);
      assert.equal(assertDone(await create(), 201).thread.id, first.thread.id);
      assert.equal((await walk(ada, { accountId: 'acct_once' })).length, 1);
      assertRefused(await create({ prompt: 'Other' }), 400, /Idempotency-Key/);
      const longer = { 'idempotency-key': 'x'.repeat(256) };
      assertRefused(await ada.call('POST', '/threads', { body, headers: longer }), 400, /Idempotency-Key/);
    });

    it('unless the request is invalid', async () => {
      for (const [body, fault] of [
        [{}, /prompt: is required/],
        [{ prompt: '' }, /prompt: must have at least 1/],
        [{ prompt: 'a\0b' }, /prompt: .*NUL/],
        [{ prompt: 'x'.repeat(100_001) }, /prompt: must have at most 100000/],
        [{ prompt: 'x', title: '' }, /title:/],
        [{ prompt: 'x', title: 'y'.repeat(501) }, /title:/],
        [{ prompt: 'x', accountId: 'y'.repeat(256) }, /accountId:/],
        [{ prompt: 'x', published: true }, /published: is not a field/],
        [{ prompt: 5 }, /prompt: must be a string/],
      ] as const) {
        assertRefused(await ada.post('/threads', body), 400, fault);
      }
    });
  });

  describe('are listed', () => {
    const accountId = 'acct_listed';
    before(async () => {
      for (const title of ['Refund policy', 'Résumé of Ada', 'Silk']) {
        await ask(ada, 'x', { title, accountId });
      }
      const { thread } = await ask(ben, 'x', { title: "Ben's shared résumé", accountId });
      assertDone(await publish(ben, thread.id));
      await ask(ben, 'x', { title: "Ben's own", accountId });
    });

    it('as mine, as published, or both, with who may change them', async () => {
      const list = (scope: string) => walk(ada, { accountId, ...(scope && { scope }) });
      const mine = await list('mine');
      assert.deepEqual(titlesOf({ threads: mine }), ['Silk', 'Résumé of Ada', 'Refund policy']);
      assert.ok(mine.every((thread) => thread.mine && !thread.published));
      const published = await list('published');
      assert.deepEqual(titlesOf({ threads: published }), ["Ben's shared résumé"]);
      assert.deepEqual([published[0].mine, published[0].published], [false, true]);
      assert.equal((await list('')).length, 4);
      assert.deepEqual(await walk(eve, { accountId }), [], 'never to another organization');
    });

    it('page by page, with cursors that belong to their listing', async () => {
      const page = (query: object) =>
        ada.get(`/threads?${new URLSearchParams({ accountId, limit: '2', ...query })}`);
      const first = assertDone(await page({ scope: 'mine' }));
      assert.deepEqual(titlesOf(first), ['Silk', 'Résumé of Ada']);
      const cursor = first.nextCursor;
      const second = assertDone(await page({ scope: 'mine', cursor }));
      assert.deepEqual(
        [titlesOf(second), second.nextCursor, second.truncated],
        [['Refund policy'], null, false],
      );
      assertRefused(await page({ cursor }), 400, /cursor:/);
      assertRefused(await page({ scope: 'published', cursor }), 400, /cursor:/);
      assertRefused(await ben.get(`/threads?scope=mine&accountId=${accountId}&cursor=${cursor}`), 400);
    });

    it('with their state, their author and a line of the last reply', async () => {
      const [{ id }] = await walk(ada, { accountId, scope: 'mine', limit: '1' });
      await untilEnded(ada, id);
      const [row] = await eventually(
        () => walk(ada, { accountId, scope: 'mine' }),
        ([first]) => first.line !== '',
      );
      assert.deepEqual([row.state, row.createdBy, row.found], ['idle', world.email('ada'), null]);
      assert.match(row.line, /^You asked: x/);
      const [shared] = await walk(ada, { accountId, scope: 'published' });
      assert.equal(shared.createdBy, world.email('ben'));
    });

    it('by words of titles and messages, ignoring case and accents, with the words marked', async () => {
      const search = (words: string, change: object = {}) =>
        walk(ada, { scope: 'mine', accountId, search: words, limit: '1', ...change });
      const titles = async (...asked: Parameters<typeof search>) =>
        titlesOf({ threads: await search(...asked) });
      // The index follows within a second or so.
      const [found] = await eventually(
        () => search('resume'),
        ({ length }) => length > 0,
      );
      assert.deepEqual(found.found.title, [
        { text: 'Résumé', hit: true },
        { text: ' of Ada', hit: false },
      ]);
      assert.deepEqual(await titles('POLICY ref'), ['Refund policy']);
      assert.deepEqual(await titles('RÉSUMÉ', { scope: 'published' }), ["Ben's shared résumé"]);
      assert.deepEqual(await titles('own'), [], 'never a thread that another keeps to themselves');
      assert.equal((await search('  ')).length, 3);
      assert.deepEqual(await walk(eve, { search: 'resume' }), [], 'never to another organization');
      const { thread } = await ask(ada, 'Where is the needle?', { title: 'Hay' });
      const [hay] = await eventually(
        () => walk(ada, { search: 'needl' }),
        ({ length }) => length > 0,
      );
      assert.equal(hay.id, thread.id);
      assert.deepEqual(
        hay.found.text.filter(({ hit }: any) => hit).map(({ text }: any) => text.toLowerCase()),
        ['needle'],
      );
      assertDone(await ada.call('DELETE', at(thread.id)));
      assert.deepEqual(await walk(ada, { search: 'needle' }), [], 'no longer once it is deleted');
    });

    it('by state and by the time of their activity', async () => {
      const { thread } = await ask(ada, 'x', { accountId: 'acct_by_state' });
      await untilEnded(ada, thread.id);
      const list = (query: object) => walk(ada, { accountId: 'acct_by_state', ...query });
      await eventually(
        () => list({ state: 'idle' }),
        ({ length }) => length === 1,
      );
      assert.deepEqual(await list({ state: 'error' }), []);
      const createdMs = Date.parse(thread.createdAt);
      assert.equal((await list({ since: String(createdMs) })).length, 1);
      assert.equal((await list({ since: String(createdMs + 1) })).length, 0);
    });

    it('with any text as a search', async () => {
      const hostile = [
        '"',
        '*',
        "'",
        'a AND',
        'NEAR(a b)',
        'a:b',
        '(',
        '\\',
        '%',
        '🧵',
        '漢字',
        '\u202e',
        "a' | 'b",
        '!',
        '&',
      ];
      for (const search of [...hostile, 'a '.repeat(250), '漢'.repeat(500)])
        assertDone(await ada.get(`/threads?${new URLSearchParams({ search })}`));
      assertRefused(await ada.get('/threads?search=a%00b'), 400, /search/);
      assertRefused(await ada.get(`/threads?search=${'%22'.repeat(10_000)}`), 400);
    });

    it('with accounts to suggest, of what the person can see', async () => {
      await ask(ben, 'x', { accountId: 'acct_secret' });
      const accounts = async (visitor: Visitor, prefix: string) =>
        assertDone(await visitor.get(`/accounts?prefix=${prefix}`)).accounts;
      assert.deepEqual(await accounts(ada, 'acct_l'), [accountId]);
      assert.deepEqual(await accounts(ada, 'acct_s'), []);
      assert.deepEqual(await accounts(ben, 'acct_s'), ['acct_secret']);
      assert.deepEqual(await accounts(eve, ''), []);
    });

    it('unless the query is invalid', async () => {
      for (const query of [
        'scope=all',
        'limit=0',
        'limit=101',
        'limit=x',
        'cursor=x',
        'cursor=',
        'state=done',
        'since=x',
        'since=-1',
        'since=1e30',
      ]) {
        assertRefused(await ada.get(`/threads?${query}`), 400, new RegExp(query.split('=')[0] ?? ''));
      }
      assertRefused(await ada.get(`/threads?search=${'x'.repeat(501)}`), 400, /search/);
    });
  });

  describe('are changed', () => {
    it('by a new title, which moves them to the top', async () => {
      const { thread } = await ask(ada, 'x', { accountId: 'acct_renamed' });
      await ask(ada, 'x', { accountId: 'acct_renamed', title: 'Later' });
      const renamed = assertDone(await ada.patch(at(thread.id), { title: 'Renamed' })).thread;
      assert.deepEqual([renamed.title, renamed.mine], ['Renamed', true]);
      assert.match(renamed.updatedAt, isoTime);
      const listed = await walk(ada, { accountId: 'acct_renamed' });
      assert.deepEqual(titlesOf({ threads: listed }), ['Renamed', 'Later']);
      assertRefused(await ada.patch(at(thread.id), { title: '' }), 400, /title:/);
    });

    it('by publishing, which shows them and their creator to the organization', async () => {
      const { thread } = await ask(ada, 'x');
      assertRefused(await ben.get(at(thread.id)), 404);
      assert.equal(assertDone(await publish(ada, thread.id)).thread.published, true);
      const seen = assertDone(await ben.get(at(thread.id))).thread;
      assert.deepEqual([seen.mine, seen.createdBy], [false, world.email('ada')]);
      assert.equal(assertDone(await publish(ada, thread.id, false)).thread.published, false);
      assertRefused(await ben.get(at(thread.id)), 404);
      assertRefused(await ada.call('PUT', at(thread.id, '/published'), { body: {} }), 400, /published:/);
    });

    it('by deleting, which can be undone', async () => {
      const { thread } = await ask(ada, '#say Half\n#hang');
      await eventually(
        async () => (await ada.get(at(thread.id))).body.messages[1].content,
        (content) => content === 'Half',
      );
      assert.deepEqual(assertDone(await ada.delete(at(thread.id))), { undoSeconds: 600 });
      assertRefused(await ada.get(at(thread.id)), 404);
      assertRefused(await ada.delete(at(thread.id)), 404);
      assertRefused(await ben.post(at(thread.id, '/restore')), 404);
      assert.equal(assertDone(await ada.post(at(thread.id, '/restore'))).thread.id, thread.id);
      const { messages, state } = assertDone(await ada.get(at(thread.id)));
      assert.deepEqual([state, messages[1].status, messages[1].content], ['idle', 'cancelled', 'Half']);
      assertRefused(await ada.post(at(thread.id, '/restore')), 404);
    });

    it('and the audit log says by whom', async () => {
      const { thread } = await ask(ada, 'x');
      const deeds: ConsoleAnswer[] = [
        await publish(ada, thread.id),
        await publish(ada, thread.id, false),
        await ada.delete(at(thread.id)),
        await ada.post(at(thread.id, '/restore')),
      ];
      const written: string[] = [];
      for (const { headers } of deeds) {
        const traceId = headers.get('x-request-id') ?? '';
        const { events } = assertDone(await ada.get(`/audit?traceId=${traceId}`));
        for (const { action, subject, actor } of events) {
          assert.deepEqual([subject, actor], [thread.id, world.email('ada')]);
          written.push(action);
        }
      }
      assert.deepEqual(written, [
        'thread.published',
        'thread.unpublished',
        'thread.deleted',
        'thread.restored',
      ]);
    });
  });

  describe('continue', () => {
    it('with a follow-up, once the reply has ended', async () => {
      const { thread } = await ask(ada, '#say First\n#hang', { accountId: 'acct_asked' });
      await ask(ada, 'Later', { accountId: 'acct_asked', title: 'Later' });
      assertRefused(
        await ada.post(at(thread.id, '/messages'), { prompt: 'Too early' }),
        400,
        /still running/,
      );
      assertDone(await ada.post(at(thread.id, '/stop')));
      const view = assertDone(await ada.post(at(thread.id, '/messages'), { prompt: 'And then?' }), 201);
      assert.deepEqual(
        view.messages.map(({ role }: any) => role),
        ['user', 'assistant', 'user', 'assistant'],
      );
      assert.match(view.thread.updatedAt, isoTime);
      const { messages } = await untilEnded(ada, thread.id);
      assert.match(messages[3].content, /You asked: And then\?/);
      assert.equal((await walk(ada, { accountId: 'acct_asked' }))[0].id, thread.id, 'it moves to the top');
      assertRefused(await ada.post(at(thread.id, '/messages'), { prompt: '' }), 400, /prompt:/);
      assertRefused(await ada.post(at(thread.id, '/messages'), {}), 400, /prompt:/);
    });

    it('with a retry after a stop, which keeps the text so far', async () => {
      const { thread } = await ask(ada, '#say Half\n#hang');
      await eventually(
        async () => (await ada.get(at(thread.id))).body.messages[1].content,
        (content) => content === 'Half',
      );
      const stopped = assertDone(await ada.post(at(thread.id, '/stop')));
      assert.deepEqual(
        [stopped.state, stopped.messages[1].status, stopped.messages[1].content],
        ['idle', 'cancelled', 'Half'],
      );
      assertDone(await ada.post(at(thread.id, '/stop')));
      const tried = assertDone(await ada.post(at(thread.id, '/retry')));
      assert.deepEqual([tried.state, tried.messages.length], ['in_progress', 3]);
      assertRefused(await ada.post(at(thread.id, '/retry')), 400, /still running/);
      assertDone(await ada.post(at(thread.id, '/stop')));
    });

    it('with a retry after a failure, whose reason and trace id the creator sees', async () => {
      const asked = await ada.post('/threads', { prompt: '#step Reading\n#fail' });
      const { thread } = assertDone(asked, 201);
      const failed = await untilEnded(ada, thread.id);
      const [, reply] = failed.messages;
      assert.deepEqual([failed.state, reply.status], ['error', 'failed']);
      assert.equal(reply.failure, 'The script says so.');
      assert.equal(reply.traceId, asked.headers.get('x-request-id'));

      const { events } = assertDone(await ada.get(`/audit?traceId=${reply.traceId}`));
      assert.deepEqual(
        events.map(({ action, subject, actor, detail }: any) => [action, subject, actor, detail.reason]),
        [['reply.failed', thread.id, 'Skein', 'The script says so.']],
      );
      assertDone(await publish(ada, thread.id));
      const [, seen] = assertDone(await ben.get(at(thread.id))).messages;
      assert.deepEqual([seen.status, seen.failure, seen.traceId], ['failed', null, null]);

      const retried = await ada.post(at(thread.id, '/retry'));
      assert.equal(assertDone(retried).messages.length, 3);
      const again = (await untilEnded(ada, thread.id)).messages[2];
      assert.equal(again.traceId, retried.headers.get('x-request-id'));
      assert.notEqual(again.traceId, reply.traceId);
    });

    it('with another version of a finished reply, which keeps the earlier one', async () => {
      const { thread } = await ask(ada, 'x');
      const [, first] = (await untilEnded(ada, thread.id)).messages;
      assertDone(await ada.post(at(thread.id, '/retry')));
      const { messages, state, thread: after } = await untilEnded(ada, thread.id);
      assert.deepEqual([messages.length, state, after.updatedAt], [3, 'idle', null]);
      assert.deepEqual(messages[1], first);
    });

    it('with an edited version of the last prompt, which keeps the earlier one', async () => {
      const { thread } = await ask(ada, 'Original');
      const before = (await untilEnded(ada, thread.id)).messages;
      const edit = (replaces: unknown, prompt = 'Edited') =>
        ada.post(at(thread.id, '/messages'), { prompt, replaces });
      for (const other of [before[1].id, 'msg_missing'])
        assertRefused(await edit(other), 400, /Only the last prompt/);
      for (const nonsense of ['', 1, null]) assertRefused(await edit(nonsense), 400, /replaces/);
      assertDone(await edit(before[0].id), 201);
      const { messages } = await untilEnded(ada, thread.id);
      assert.deepEqual(messages.slice(0, 2), before);
      assert.deepEqual([messages[2].content, messages[2].replaces], ['Edited', before[0].id]);
      assert.match(messages[3].content, /You asked: Edited/);
      assertRefused(await edit(before[0].id), 400, /Only the last prompt/);
    });
  });

  describe('are rated', () => {
    const rate = (visitor: Visitor, id: string, body: object) =>
      visitor.call('PUT', at(id, '/rating'), { body });
    const ratingsOf = async (visitor: Visitor, id: string) =>
      assertDone(await visitor.get(at(id, '/ratings'))).ratings;
    const unanswered = async (visitor: Visitor) =>
      assertDone(await visitor.get('/unanswered?limit=100')).replies;

    it('by everybody who may read them, and listed for admins who may read them', async () => {
      const { thread } = await ask(ben, 'When is the workshop?');
      const reply = (await untilEnded(ben, thread.id)).messages[1];
      const down = { messageId: reply.id, value: 'down', comment: 'It moved to Friday.' };
      const isListed = async () => (await unanswered(ada)).some((one: any) => one.messageId === reply.id);
      assertDone(await rate(ben, thread.id, down));
      assert.deepEqual(await ratingsOf(ben, thread.id), [down]);
      assert.equal(await isListed(), false, 'an admin cannot see the private thread of another person');
      assertRefused(await rate(ada, thread.id, down), 404);
      assert.deepEqual(await ratingsOf(ada, thread.id), []);
      assertDone(await publish(ben, thread.id));
      const [listed] = (await unanswered(ada)).filter((one: any) => one.messageId === reply.id);
      assert.deepEqual(
        [
          listed.threadId,
          listed.prompt,
          listed.askedBy,
          listed.complaints[0].by,
          listed.complaints[0].comment,
        ],
        [thread.id, 'When is the workshop?', world.email('ben'), world.email('ben'), down.comment],
      );
      assertDone(await rate(ada, thread.id, { messageId: reply.id, value: 'up' }));
      assertDone(await rate(ben, thread.id, { messageId: reply.id, value: null }));
      assert.deepEqual(await ratingsOf(ben, thread.id), []);
      assert.equal(await isListed(), false);
      for (const visitor of [eve]) {
        assertRefused(await rate(visitor, thread.id, down), 404);
        assertRefused(
          await visitor.intrude(world.acme, 'PUT', at(thread.id, '/rating'), { body: down }),
          404,
        );
        assertRefused(await visitor.intrude(world.acme, 'GET', '/unanswered'), 404);
      }
      assertRefused(await ben.get('/unanswered'), 403);
      assertRefused(await ben.get('/passages?question=x'), 403);
    });

    it('unless the request is invalid', async () => {
      const { thread, messages } = await ask(ada, 'x');
      await untilEnded(ada, thread.id);
      const messageId = messages[1].id;
      for (const [body, fault] of [
        [{ value: 'up' }, /messageId: is required/],
        [{ messageId }, /value: is required/],
        [{ messageId, value: 'sideways' }, /value/],
        [{ messageId, value: 'down', comment: 'x'.repeat(1001) }, /comment: must have at most 1000/],
        [{ messageId, value: 'down', comment: 'a\0b' }, /comment: .*NUL/],
      ] as const)
        assertRefused(await rate(ada, thread.id, body), 400, fault);
      assertRefused(await rate(ada, thread.id, { messageId: messages[0].id, value: 'up' }), 404);
      assertRefused(await rate(ada, 'thr_missing', { messageId, value: 'up' }), 404);
      assertRefused(await ada.get('/unanswered?cursor=x'), 400, /cursor/);
      assertRefused(await ada.get('/passages'), 400, /question/);
      assertRefused(await ada.get(`/passages?question=${'x'.repeat(501)}`), 400, /question/);
    });
  });

  describe('are protected', () => {
    const calls: readonly (readonly [string, string, unknown?])[] = [
      ['PATCH', '', { title: 'Taken' }],
      ['DELETE', ''],
      ['PUT', '/published', { published: false }],
      ['POST', '/messages', { prompt: 'Mine now' }],
      ['POST', '/retry'],
      ['POST', '/stop'],
    ];
    const reads = ['', '/events'];
    const send = (visitor: Visitor, id: string, [method, path, body]: (typeof calls)[number]) =>
      visitor.call(method, at(id, path), { body });

    it('from everybody else while they are not published, with 404', async () => {
      const { thread } = await ask(ada, 'x');
      for (const visitor of [ben, eve]) {
        for (const call of calls) assertRefused(await send(visitor, thread.id, call), 404);
        for (const path of reads) assertRefused(await visitor.get(at(thread.id, path)), 404);
        assertRefused(await visitor.post(at(thread.id, '/restore')), 404);
      }
    });

    it('from changes by others when they are published, and from reads of other organizations', async () => {
      const { thread } = await ask(ada, '#fail', { title: 'Kept' });
      await untilEnded(ada, thread.id);
      assertDone(await publish(ada, thread.id));
      for (const call of calls) {
        assertRefused(await send(ben, thread.id, call), 403);
        assertRefused(await send(eve, thread.id, call), 404);
        assertRefused(await eve.intrude(world.acme, call[0], at(thread.id, call[1]), { body: call[2] }), 404);
      }
      for (const path of reads) {
        assertRefused(await eve.get(at(thread.id, path)), 404);
        assertRefused(await eve.intrude(world.acme, 'GET', at(thread.id, path)), 404);
      }
      const kept = assertDone(await ben.get(at(thread.id)));
      assert.deepEqual([kept.thread.title, kept.messages.length], ['Kept', 2]);
    });

    it('with any id', async () => {
      for (const id of ['thr_missing', 'x', 'thr_00000000000000000000000000', '%00', '..%2fkeys']) {
        for (const call of calls) assertRefused(await send(ada, id, call), 404);
        for (const path of [...reads, '/home']) {
          const answer = path === '/home' ? await ada.client.get(at(id, path)) : await ada.get(at(id, path));
          assertRefused(answer, 404);
        }
      }
    });
  });

  it('are found in any of a person’s organizations', async () => {
    const invited = await world.service.skein('member', 'add', world.globex, world.email('ben'));
    const { thread: atAcme } = await ask(ben, 'x');
    const home = (id: string) => ben.client.get(at(id, '/home'));
    assert.deepEqual(assertDone(await home(atAcme.id)), { organizationId: world.acme });

    const { thread: atGlobex } = await ask(eve, 'x');
    assertDone(await publish(eve, atGlobex.id));
    assertRefused(await home(atGlobex.id), 404);
    assertDone(await ben.client.acceptInvitation(invited.invitation, 'violin sky harbour'));
    assert.deepEqual(assertDone(await home(atGlobex.id)), { organizationId: world.globex });
    assertDone(await ben.intrude(world.globex, 'GET', at(atGlobex.id)));
    assertRefused(await ben.get(at(atGlobex.id)), 404);
    assertRefused(await ben.intrude(world.globex, 'GET', at(atAcme.id)), 404);
    assertDone(await publish(eve, atGlobex.id, false));
    assertRefused(await home(atGlobex.id), 404);
  });
});
