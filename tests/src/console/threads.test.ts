import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import {
  ask,
  at,
  isoTime,
  listTitles,
  publish,
  untilEnded,
  walk,
} from '../../harness/console/thread-calls.ts';
import { assertDone, assertRefused, type Visitor } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

describeOnEachEngine('Threads in the console', ({ sharedStore }) => {
  let world: SettingsWorld;
  let ada: Visitor;
  let ben: Visitor;
  let eve: Visitor;
  before(async () => {
    world = await sharedSettingsWorld(await sharedStore());
    ({ ada, ben, eve } = world);
  });

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
        [{}, /required field `prompt`/],
        [{ prompt: '' }, /`prompt` must be a string with 1 to 100,000/],
        [{ prompt: 'a\0b' }, /`prompt` .*NUL/],
        [{ prompt: 'x'.repeat(100_001) }, /`prompt` must be a string with 1 to 100,000/],
        [{ prompt: 'x', title: '' }, /`title`/],
        [{ prompt: 'x', title: 'y'.repeat(501) }, /`title`/],
        [{ prompt: 'x', accountId: 'y'.repeat(256) }, /`accountId`/],
        [{ prompt: 'x', published: true }, /Unknown field `published`/],
        [{ prompt: 5 }, /`prompt` must be a string/],
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
      assert.deepEqual(listTitles({ threads: mine }), ['Silk', 'Résumé of Ada', 'Refund policy']);
      assert.ok(mine.every((thread) => thread.mine && !thread.published));
      const published = await list('published');
      assert.deepEqual(listTitles({ threads: published }), ["Ben's shared résumé"]);
      assert.deepEqual([published[0].mine, published[0].published], [false, true]);
      assert.equal((await list('')).length, 4);
      assert.deepEqual(await walk(eve, { accountId }), [], 'never to another organization');
    });

    it('page by page, with cursors that belong to their listing', async () => {
      const page = (query: object) =>
        ada.get(`/threads?${new URLSearchParams({ accountId, limit: '2', ...query })}`);
      const first = assertDone(await page({ scope: 'mine' }));
      assert.deepEqual(listTitles(first), ['Silk', 'Résumé of Ada']);
      const cursor = first.nextCursor;
      const second = assertDone(await page({ scope: 'mine', cursor }));
      assert.deepEqual(
        [listTitles(second), second.nextCursor, second.truncated],
        [['Refund policy'], null, false],
      );
      assertRefused(await page({ cursor }), 400, /`cursor`/);
      assertRefused(await page({ scope: 'published', cursor }), 400, /`cursor`/);
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
        listTitles({ threads: await search(...asked) });
      // The index is updated within about a second, thread by thread.
      const untilFound = (...asked: Parameters<typeof search>) =>
        eventually(
          () => search(...asked),
          ({ length }) => length > 0,
        );
      const [found] = await untilFound('resume');
      await untilFound('policy');
      await untilFound('resume', { scope: 'published' });
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

  it('are found in any of a person’s organizations', async () => {
    const invited = await world.service.skein('member', 'add', world.globex, world.email('ben'));
    const { thread: atAcme } = await ask(ben, 'x');
    const home = (id: string) => ben.client.get(`/home/${id}`);
    assert.deepEqual(assertDone(await home(atAcme.id)), { organizationId: world.acme });

    const { thread: atGlobex } = await ask(eve, 'x');
    assertDone(await publish(eve, atGlobex.id));
    assertRefused(await home(atGlobex.id), 404);
    const { id: documentId } = assertDone(await eve.upload({ name: 'a.md' }, '# A\n\nText.\n'), 201);
    assertRefused(await home(documentId), 404);
    assertDone(await ben.client.acceptInvitation(invited.invitation, 'violin sky harbour'));
    assert.deepEqual(assertDone(await home(atGlobex.id)), { organizationId: world.globex });
    assert.deepEqual(assertDone(await home(documentId)), { organizationId: world.globex });
    assertDone(await ben.intrude(world.globex, 'GET', at(atGlobex.id)));
    assertRefused(await ben.get(at(atGlobex.id)), 404);
    assertRefused(await ben.intrude(world.globex, 'GET', at(atAcme.id)), 404);
    assertDone(await publish(eve, atGlobex.id, false));
    assertRefused(await home(atGlobex.id), 404);
  });
});
