import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { splitWords, toTerm } from '../../../../answers/src/index.ts';
import { createPrincipal, World } from '../../../testing/contract/fixture.ts';
import { done } from '../../../testing/contract/reply-fixture.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { createSeal } from '../../security/seal.ts';
import type { Store } from '../../storage/port/store.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createThreadIndex } from './index-threads.ts';
import { createThreadSearch, type SearchThreadsInput, type ThreadRow } from './search-threads.ts';

describe('A search in threads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-search-'));
  let world: World;
  let ada: UserPrincipal;
  const vocabulary = { splitWords, toTerm };
  const seal = createSeal(new Uint8Array(32));
  const searchIn = (store: Store) => createThreadSearch({ store, seal, vocabulary });
  const index = () =>
    createThreadIndex({ store: world.store, vocabulary })(async () => {}, new AbortController().signal);
  const find = (search: string, change: Partial<SearchThreadsInput> = {}) =>
    searchIn(world.store).search(ada, { search, limit: 10, ...change });
  const titles = (rows: readonly ThreadRow[]) => rows.map(({ thread }) => thread.title);
  const shown = (row: ThreadRow | undefined) =>
    row?.found?.text?.map(({ text, hit }) => (hit ? `[${text}]` : text)).join('');

  before(async () => {
    world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    const organizationId = await world.organization();
    const userId = await world.member(organizationId);
    ada = createPrincipal(organizationId, userId);
    const prompts = {
      Returns: 'How long do refunds take?',
      Café: 'Wann öffnet die Straße?',
      Long: `${'word '.repeat(20_000)}needle ${'word '.repeat(100)}`,
      Empty: '🧵',
    };
    for (const [title, prompt] of Object.entries(prompts))
      await world.thread(organizationId, userId, { title, prompt });
    const replies = await world.claim(60_000);
    for (const reply of replies) {
      const content = '## Answer\n\n**Refunding takes 30 days.** [1] Silk is excluded.';
      await world.store.settleReply(reply, { status: 'completed', ...done, content });
    }
    await index();
  });
  after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('finds every thread once the index is up to date, however many of one organization were due', async () => {
    for (const threads of [45, 1]) {
      const organizationId = await world.organization();
      const userId = await world.member(organizationId);
      for (let count = 0; count < threads; count += 1) await world.thread(organizationId, userId);
    }
    await index();
    assert.deepEqual(await world.store.takeUnindexed(1), []);
  });

  it('finds words of titles, prompts and replies in any form', async () => {
    assert.deepEqual(titles((await find('take refund ')).rows), ['Returns']);
    assert.deepEqual(titles((await find('cafe strasse')).rows), ['Café']);
    assert.equal((await find('excluded')).rows.length, 4);
    assert.deepEqual((await find('unknown')).rows, []);
  });

  it('marks the words in the title and in the best part of a message', async () => {
    const [row] = (await find('retur')).rows;
    assert.deepEqual(row?.found?.title, [{ text: 'Returns', hit: true }]);
    assert.equal(row?.found?.text, null);
    assert.equal(shown((await find('silk')).rows[0]), 'Answer Refunding takes 30 days. [Silk] is excluded.');
    assert.match(shown((await find('needle')).rows[0]) ?? '', /^…(?:word )+\[needle\] (?:word ?)+…$/);
  });

  it('shows the beginning of the latest reply in plain text', async () => {
    const { rows } = await find('excluded');
    assert.ok(
      rows.every(({ summary }) => summary.line === 'Answer Refunding takes 30 days. Silk is excluded.'),
    );
    assert.ok(rows.every(({ summary }) => summary.state === 'idle'));
  });

  it('pages through results with cursors of the same search, and rejects those of another', async () => {
    const first = await find('excluded', { limit: 3 });
    assert.equal(first.rows.length, 3);
    const cursor = first.nextCursor as string;
    const second = await find('excluded', { limit: 3, cursor });
    assert.equal(second.nextCursor, null);
    assert.equal(new Set([...titles(first.rows), ...titles(second.rows)]).size, 4);
    for (const change of [{ scope: 'mine' }, { state: 'idle' }, { since: 1 }, { accountId: 'a' }] as const)
      await assert.rejects(find('excluded', { ...change, cursor }), { code: 'INVALID_PARAMS' });
    await assert.rejects(find('silk', { cursor }), { code: 'INVALID_PARAMS' });
  });

  it('treats operators, quotes and symbols as text', async () => {
    const hostile = [
      '"',
      "'",
      '*',
      'refund*',
      '"refund',
      'refund AND',
      'OR',
      'NOT refund',
      'NEAR(refund, 1)',
      'terms:refund',
      '^refund',
      'refund:*',
      'refund & !silk',
      '<->',
      '\\',
      "'; DROP TABLE thread; --",
      '🧵',
      '中文',
      '()',
      '- - -',
      '¤',
      '¤idle',
      '·',
      'İ',
      'ß',
      'a'.repeat(500),
      'a '.repeat(250),
      '\u0301',
      '\u202erefund',
      'ﬁ',
    ];
    for (const search of hostile) assert.ok((await find(search)).rows.length <= 4, search);
    assert.equal((await find('refund AND silk')).rows.length, 0);
    assert.deepEqual((await find('¤')).rows, []);
  });

  it('runs one search of an organization at a time, lets others take turns, and drops aborted ones', async () => {
    const other = { ...ada, organizationId: 'org_other' as OrganizationId };
    const running: PromiseWithResolvers<[]>[] = [];
    const started: string[] = [];
    const found: Store['searchThreads'] = (organizationId, { terms }) => {
      started.push(`${organizationId === ada.organizationId ? 'ada' : 'other'} ${terms}`);
      running.push(Promise.withResolvers());
      return running.at(-1)!.promise;
    };
    const held = searchIn({ ...world.store, searchThreads: found });
    const search = (person: UserPrincipal, word: string, signal?: AbortSignal) =>
      held.search(person, { search: `${word} `, limit: 10 }, signal);
    const first = search(ada, 'a0');
    const leaving = new AbortController();
    const left = search(ada, 'gone', leaving.signal);
    const waiting = Array.from({ length: 7 }, (_, place) => search(ada, `a${place + 1}`));
    const rateLimited = { code: 'RATE_LIMITED' };
    await assert.rejects(search(ada, 'a9'), rateLimited);
    const others = search(other, 'b0');
    await new Promise(setImmediate);
    assert.deepEqual(started, ['ada a0', 'other b0']);
    leaving.abort();
    await assert.rejects(left, rateLimited);
    for (let ended = 0; ended < 9; ended += 1) {
      running[ended]!.resolve([]);
      await new Promise(setImmediate);
    }
    await Promise.all([first, others, ...waiting]);
    assert.deepEqual(
      started.slice(2),
      ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'].map((word) => `ada ${word}`),
    );
  });

  it('yields to other requests between the threads whose messages it loads', async () => {
    const { organizationId, userId } = ada;
    for (let count = 0; count < 12; count += 1)
      await world.thread(organizationId, userId, { title: 'Velvet', prompt: 'velvet' });
    await index();
    let isRunning = true;
    let loaded = 0;
    let loadedInTurnMax = 0;
    const count = () => {
      loadedInTurnMax = Math.max(loadedInTurnMax, loaded);
      loaded = 0;
      if (isRunning) setImmediate(count);
    };
    setImmediate(count);
    const getThread: Store['getThread'] = (...asked) => {
      loaded += 1;
      return world.store.getThread(...asked);
    };
    const counting = searchIn({ ...world.store, getThread });
    const { rows } = await counting.search(ada, { search: 'velvet', limit: 100 });
    isRunning = false;
    count();
    assert.equal(rows.length, 12);
    assert.ok(loadedInTurnMax > 0);
    // Two, because a turn may start before or after it is counted.
    assert.ok(loadedInTurnMax <= 2, `${loadedInTurnMax} threads in one turn`);
  });

  it('yields to other requests while it indexes a long thread, and finds its first words', async () => {
    let isRunning = true;
    let turns = 0;
    const count = () => {
      turns += 1;
      if (isRunning) setImmediate(count);
    };
    setImmediate(count);
    const { organizationId, userId } = ada;
    const words = Array.from({ length: 12_000 }, (_, place) => `long${place}`).join(' ');
    await world.thread(organizationId, userId, { title: 'Dictionary', prompt: words });
    await index();
    assert.deepEqual(titles((await find('long11000 long11')).rows), []);
    assert.deepEqual(titles((await find('long9000')).rows), ['Dictionary']);
    isRunning = false;
    // One turn for every 4,000 characters, at least.
    assert.ok(turns > words.length / 4000, `${turns} turns`);
  });
});
