import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { by, noteBy, type World } from '../../../testing/contract/fixture.ts';
import { openPostgresWorld } from '../../../testing/contract/postgres-world.ts';
import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Store, ThreadQuery } from '../port/store.ts';
import { rangeSize } from './thread-search.ts';

/** At first. As many are added while some of these move. */
const threads = 1.25 * rangeSize;

describe('A search over several ranges of recency', () => {
  let operator: pg.Client;
  let world: World;
  let close: () => Promise<void>;
  let nodes: Store[];
  let organizationId: OrganizationId;
  let ada: UserId;
  let bob: UserId;
  before(async () => {
    ({ operator, world, close } = await openPostgresWorld());
    nodes = [world.store, await world.node()];
    organizationId = await world.organization();
    ada = await world.member(organizationId);
    bob = await world.member(organizationId);
    await addThreads(0, threads);
    await indexAll();
    await moveSome();
    await addThreads(threads, 2 * threads);
    await indexAll();
  });
  after(() => close?.());

  /** Not in the order of their ids, ten in each millisecond. Half belong to Ada, a quarter are published by Bob. */
  async function addThreads(from: number, to: number): Promise<void> {
    await operator.query(
      `INSERT INTO thread (organization_id, id, sequence, user_id, title, created_at, activity_at, published)
       SELECT $1, 'thr_' || lpad((place * 7919 % 100003)::text, 26, '0'), place + 1,
         CASE WHEN place % 4 < 2 THEN $2 ELSE $3 END, 'Thread ' || place, at, at, place % 4 = 3
       FROM (SELECT place, $6::bigint + place / 10 AS at FROM generate_series($4::bigint, $5::bigint - 1) AS place) AS new`,
      [organizationId, ada, bob, from, to, world.clock.ms],
    );
    world.clock.pass(threads);
  }

  const chooseWords = (title: string): string[] => {
    const place = Number(title.replace(/\D/g, ''));
    return [
      'every',
      ...(place < threads / 2 ? ['older'] : []),
      ...(place === 0 ? ['first'] : []),
      ...(place % 1000 === 3 ? ['rare'] : []),
      place % 2 === 0 ? 'even' : 'odd',
    ];
  };

  /** Two nodes at once, each with its share of the threads. */
  async function indexAll(): Promise<void> {
    const { rows } = await operator.query<Thread>(
      `SELECT id, organization_id AS "organizationId", user_id AS "userId", title, NULL AS "accountId", published,
         created_at::float8 AS "createdAt", updated_at::float8 AS "updatedAt" FROM thread`,
    );
    const byId = new Map(rows.map((thread) => [thread.id, thread]));
    const toEntry = (thread: Thread) =>
      ({ thread, version: 1, state: 'idle', line: '', terms: chooseWords(thread.title) }) as const;
    const indexSome = async (store: Store): Promise<void> => {
      const due = await store.takeUnindexed(100);
      if (due.length === 0) return;
      await store.indexThreads(due.map((each) => ({ due: each, entry: toEntry(byId.get(each.threadId)!) })));
      return indexSome(store);
    };
    await Promise.all(nodes.map(indexSome));
  }

  async function moveSome(): Promise<void> {
    const { rows } = await operator.query(
      'SELECT id, title FROM thread WHERE organization_id = $1 AND user_id = $2 AND sequence % 50 = 1',
      [organizationId, ada],
    );
    assert.ok(rows.length > 20);
    for (const { id, title } of rows)
      await world.store.renameThread(organizationId, id as ThreadId, `Renamed ${title}`, by(ada));
    await world.store.deleteThread(organizationId, rows.at(-1).id, noteBy(ada));
  }

  async function found(query: ThreadQuery): Promise<ThreadId[]> {
    const ids: ThreadId[] = [];
    for (let after: string | undefined; ; ) {
      const page = await world.store.searchThreads(organizationId, query, 997, after);
      ids.push(...page.map(({ thread }) => thread.id));
      if (page.length < 997) return ids;
      after = page.at(-1)!.place;
    }
  }

  /** What the threads themselves say. */
  async function expected({ userId, scope, since = 0, terms }: ThreadQuery): Promise<ThreadId[]> {
    const { rows } = await operator.query(
      `SELECT id, title FROM thread WHERE organization_id = $1 AND deleted_at IS NULL AND activity_at >= $2
         AND (user_id = $3 AND $4 <> 'published' OR published AND $4 <> 'mine')
       ORDER BY activity_at DESC, id DESC`,
      [organizationId, since, userId, scope ?? ''],
    );
    const holds = ({ title }: { title: string }) => terms.every((term) => chooseWords(title).includes(term));
    return rows.filter(holds).map(({ id }) => id);
  }

  it('has several ranges, and none much larger than the limit', async () => {
    const { rows } = await operator.query(
      `SELECT count(thread_id)::int AS entries FROM (
         SELECT first_at, lead(first_at, 1, 9e15::bigint) OVER (ORDER BY first_at) AS next_at FROM search_range
         WHERE organization_id = $1) AS range
       LEFT JOIN thread_search ON organization_id = $1 AND activity_at >= first_at AND activity_at < next_at
       GROUP BY first_at`,
      [organizationId],
    );
    assert.ok(rows.length >= 3, `${rows.length} ranges`);
    for (const { entries } of rows) assert.ok(entries < 1.25 * rangeSize, `${entries} entries`);
  });

  for (const words of ['every', 'older', 'first', 'rare', 'even odd', 'odd older', 'rare even', 'none', ''])
    for (const scope of [undefined, 'mine', 'published'] as const)
      it(`finds "${words}" among ${scope ?? 'all'} threads as if it compared each, page by page`, async () => {
        const terms = words.split(' ').filter(Boolean);
        const { rows } = await operator.query(
          'SELECT activity_at::int8::float8 AS at FROM thread WHERE organization_id = $1 ORDER BY 1 OFFSET $2 LIMIT 1',
          [organizationId, threads],
        );
        for (const userId of [ada, bob])
          for (const since of [undefined, rows[0].at]) {
            const query = { userId, scope, since, terms };
            assert.deepEqual(await found(query), await expected(query));
          }
      });
});
