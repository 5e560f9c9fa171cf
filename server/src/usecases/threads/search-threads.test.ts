import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { World } from '../../../testing/contract/fixture.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { createSeal } from '../../security/seal.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import type { Context } from '../context.ts';
import { personIn } from '../people/sessions.ts';
import { type FoundThreads, listThreads, searchThreads } from './list-threads.ts';

describe('A search in the titles of 2,300 threads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-search-'));
  let world: World;
  let context: Context;
  let ada: UserPrincipal;
  before(async () => {
    world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    const organizationId = await world.organization();
    const userId = await world.member(organizationId);
    ada = personIn(organizationId, userId);
    context = contextWith(10_000);
    const titles = Array.from({ length: 2300 }, (_, place) => titleAt(place));
    await Promise.all(titles.map((title) => world.thread(organizationId, userId, { title })));
  });
  after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** In order of creation: the newest, which a walk shows first, is the last. */
  function titleAt(place: number): string {
    if (place === 0) return 'Très ancien';
    return place % 100 === 0 ? `Hundred ${place}` : `Thread ${place}`;
  }
  function contextWith(paginationWindow: number): Context {
    const used = {
      store: world.store,
      seal: createSeal(new Uint8Array(32)),
      limits: { paginationWindow },
    };
    return used as unknown as Context;
  }
  const titlesOf = ({ threads }: FoundThreads) => threads.map(({ title }) => title);
  async function searchAll(search: string, limit: number, from: Context = context) {
    const answers: FoundThreads[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const answer = await searchThreads(from, ada, { search, limit, ...(cursor && { cursor }) });
      answers.push(answer);
      cursor = answer.nextCursor;
    }
    return { answers, titles: answers.flatMap(titlesOf) };
  }
  const hundreds = Array.from({ length: 22 }, (_, place) => `Hundred ${(22 - place) * 100}`);

  it('finds each once and in the order of the listing, whatever the size of a page', async () => {
    for (const limit of [1, 5, 22, 100]) {
      assert.deepEqual((await searchAll('hundred', limit)).titles, hundreds, `pages of ${limit}`);
    }
  });

  it('fills a page before it returns', async () => {
    const { answers } = await searchAll('hundred', 5);
    assert.deepEqual(
      answers
        .map(titlesOf)
        .map(({ length }) => length)
        .slice(0, 4),
      [5, 5, 5, 5],
    );
  });

  it('scans 2,000 threads per call, and continues from there even if it found nothing', async () => {
    const first = await searchThreads(context, ada, { search: 'tres ancien', limit: 10 });
    assert.deepEqual(titlesOf(first), []);
    assert.ok(first.nextCursor !== null);
    const cursor = first.nextCursor;
    const second = await searchThreads(context, ada, { search: 'tres ancien', limit: 10, cursor });
    assert.deepEqual([titlesOf(second), second.nextCursor], [['Très ancien'], null]);
  });

  it('returns a cursor of the listing, which works with another search or without one', async () => {
    const { nextCursor } = await searchThreads(context, ada, { search: 'hundred', limit: 1 });
    const cursor = nextCursor as string;
    const listed = await listThreads(context, ada, { limit: 2, cursor });
    assert.deepEqual(titlesOf(listed), ['Thread 2199', 'Thread 2198']);
    const searched = await searchThreads(context, ada, { search: '2150', limit: 1, cursor });
    assert.deepEqual(titlesOf(searched), ['Thread 2150']);
  });

  it('rejects a cursor of another scope or account', async () => {
    const { nextCursor } = await searchThreads(context, ada, { search: 'thread', limit: 1, scope: 'mine' });
    const cursor = nextCursor as string;
    const more = { search: 'thread', limit: 1, cursor };
    assert.equal((await searchThreads(context, ada, { ...more, scope: 'mine' })).threads.length, 1);
    await assert.rejects(searchThreads(context, ada, more), { code: 'INVALID_PARAMS' });
    await assert.rejects(searchThreads(context, ada, { ...more, scope: 'published' }), {
      code: 'INVALID_PARAMS',
    });
    await assert.rejects(searchThreads(context, ada, { ...more, scope: 'mine', accountId: 'x' }), {
      code: 'INVALID_PARAMS',
    });
  });

  it('reaches as far as the pagination window, and reports that there are older threads', async () => {
    const { answers, titles } = await searchAll('hundred', 4, contextWith(300));
    assert.deepEqual(titles, hundreds.slice(0, 3));
    assert.ok(answers.every(({ truncated }) => truncated));
  });

  it('yields to other requests between its pages', async () => {
    let turns = 0;
    let searching = true;
    const countTurns = () => {
      turns += 1;
      if (searching) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    await searchThreads(context, ada, { search: 'nothing', limit: 1 });
    searching = false;
    assert.ok(turns >= 7, `${turns} turns of the event loop`);
  });
});
