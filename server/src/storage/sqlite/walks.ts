import type { Position } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import {
  accountKey,
  bottom,
  byPosition,
  cut,
  isExpired,
  kindOf,
  type ListingKind,
  listingKinds,
  readStart,
  writeStart,
} from '../listings.ts';
import type { Values } from '../sql/sql.ts';
import { threadColumns } from '../sql/thread-reads.ts';
import type { ListedThread, Listing, ThreadPage, Threads } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { ObjectCache } from './object-cache.ts';
import { type Counted, sizeExpression } from './thread-listing.ts';
import { type ThreadRow, threadColumnCount, toThread } from './thread-row.ts';

/** `activityAt` is the position of the thread when the walk started. */
type ListedRow = [...ThreadRow, activityAt: number];
/** A page, and what it was read from. */
interface KeptPage<Page extends ThreadPage = ThreadPage> {
  readonly page: Page;
  readonly listingChange: number;
  readonly at: number;
}

/** A walk ends a day after its start: a kept first page must not start it much earlier. */
const keptMsMax = 60_000;
/** What the objects of a listed thread take without its texts. */
const listedMemory = 1024;

type FirstPageRow = [...ListedRow, lastSequence: number, lastMove: number, size: number];

/**
 * A walk's start holds the numbers of the last thread and the last move at that time. The walk skips threads with a higher
 * number, and finds threads that moved later at the position they had before.
 */
export function sqliteWalks(
  database: Database,
  commits: CommitQueue,
  cache: ObjectCache,
): Pick<Threads, 'beginWalk' | 'continueWalk'> {
  const queries = listingQueries();
  const prepare = <Row>(name: keyof Queries) => {
    const statement = (kind: ListingKind) => database.prepare<[Values], Row>(queries[kind][name]).raw();
    const statements = listingKinds.map((kind) => [kind, statement(kind)]);
    return Object.fromEntries(statements) as Record<ListingKind, ReturnType<typeof statement>>;
  };
  const firstPages = prepare<FirstPageRow>('firstPage');
  const laterPages = prepare<ListedRow>('laterPage');
  const moves = prepare<ListedRow>('moves');

  const memory = new WeakMap<Thread, number>();

  /** Returns the same object for an unchanged thread, so that its JSON can be cached with it. */
  function toListed(row: readonly [...ListedRow, ...unknown[]]): ListedThread {
    return { thread: keptThread(row), position: { activityAt: row[threadColumnCount], id: row[1] } };
  }

  function keptThread(row: readonly [...ThreadRow, ...unknown[]]): Thread {
    const name = `listed ${row[1]}`;
    const kept = cache.peek<Thread>(name);
    if (kept !== undefined && isSame(kept, row)) return kept;
    const thread = toThread(row);
    // Its texts, its JSON and the JSON of a page that contains it, at two bytes a character.
    const bytes = listedMemory + 6 * JSON.stringify(thread).length;
    memory.set(thread, bytes);
    return cache.keep(name, thread, bytes);
  }

  function keep<Page extends ThreadPage>(name: string, kept: KeptPage<Page>): Page {
    // Every page holds its threads, also those that others hold, because it may outlive them.
    const bytes = kept.page.rows.reduce((sum, { thread }) => sum + (memory.get(thread) ?? 0), listedMemory);
    return cache.keep(name, kept, bytes + 2 * name.length).page;
  }

  /** In one transaction, so that the page and the moves are consistent. */
  const proceed = database.transaction((kind: ListingKind, limit: number, values: Values) => {
    const rows = laterPages[kind].all(values).map(toListed);
    // A page that is not full is the last one, and reaches to the end of the listing.
    const lowest = rows.length <= limit ? bottom : (rows.at(-1)?.position ?? bottom);
    const range = { lowestActivityAt: lowest.activityAt, lowestId: lowest.id };
    const moved = moves[kind].all({ ...values, ...range });
    return moved.length === 0 ? rows : [...rows, ...moved.map(toListed)].sort(byPosition);
  });

  return {
    // One statement, so that the walk's start, its first page and the size of the listing are consistent.
    async beginWalk(organizationId, listing, limit) {
      // Read before the page, so that a move that the page does not show is not older than the start.
      const at = commits.now();
      const name = pageName(organizationId, listing, limit);
      const listingChange = cache.listingChange(organizationId);
      const kept = cache.get<KeptPage<FirstPage>>(name);
      if (kept?.listingChange === listingChange && at - kept.at < keptMsMax) return kept.page;
      const rows = firstPages[kindOf(listing)].all(valuesOf(organizationId, listing, limit));
      // An empty listing has no second page, so its start does not matter.
      const [lastSequence, lastMove, size] = (rows[0]?.slice(-3) ?? [0, 0, 0]) as [number, number, number];
      const start = writeStart({ lastSequence, lastMove, at });
      const page = { ...cut(rows.map(toListed), limit), start, size };
      return keep(name, { page, listingChange, at });
    },

    async continueWalk(organizationId, listing, limit, walk) {
      const start = readStart(walk.start);
      const at = commits.now();
      if (isExpired(start, at)) return 'expired';
      const name = pageName(organizationId, listing, limit, walk);
      const listingChange = cache.listingChange(organizationId);
      const kept = cache.get<KeptPage>(name);
      if (kept?.listingChange === listingChange) return kept.page;
      const { lastSequence, lastMove } = start;
      const range = { ...walk.after, lastSequence, lastMove };
      const values = { ...valuesOf(organizationId, listing, limit), ...range };
      const page = cut(proceed(kindOf(listing), limit, values), limit);
      return keep(name, { page, listingChange, at });
    },
  };
}

/** Reads one row more than the page has, to know whether another page follows. */
function valuesOf(organizationId: OrganizationId, { userId, accountId }: Listing, limit: number): Values {
  return {
    organizationId,
    userId,
    accountId: accountId ?? null,
    accountKey: accountKey(accountId),
    count: limit + 1,
  };
}

type FirstPage = ThreadPage & { readonly start: string; readonly size: number };

function pageName(
  organizationId: OrganizationId,
  { userId, ownOnly, accountId }: Listing,
  limit: number,
  walk?: { readonly start: string; readonly after: Position },
): string {
  const listing = `${organizationId} ${userId} ${ownOnly} ${limit} ${walk?.start} ${walk?.after.activityAt} ${walk?.after.id}`;
  return `page ${listing} ${accountKey(accountId)}`;
}

/** Compares everything that can change. */
function isSame(
  { organizationId, title, updatedAt, published, deletedAt }: Thread,
  row: readonly [...ThreadRow, ...unknown[]],
): boolean {
  return (
    organizationId === row[0] &&
    title === row[3] &&
    updatedAt === row[7] &&
    published === (row[8] === 1) &&
    deletedAt === row[9]
  );
}

interface Queries {
  readonly firstPage: string;
  readonly laterPage: string;
  readonly moves: string;
}

/** `+ 0`, because SQLite would compile a query with a bare parameter again for each value: 50 µs per page. */
const count = '@count + 0';

export function listingQueries(): Record<ListingKind, Queries> {
  const own = 'user_id = @userId';
  const published = 'published = 1';
  const account = 'account_id = @accountId';
  return {
    own: queries('own', `(${own} OR ${published})`, own, published),
    ownAccount: queries(
      'own',
      `(${own} OR ${published}) AND ${account}`,
      `${own} AND ${account}`,
      `${account} AND ${published}`,
    ),
    published: queries('published', published, published),
    publishedAccount: queries('published', `${published} AND ${account}`, `${account} AND ${published}`),
    mine: queries('mine', own, own),
    mineAccount: queries('mine', `${own} AND ${account}`, `${own} AND ${account}`),
  };
}

function queries(counted: Counted, visible: string, ...ranges: string[]): Queries {
  return {
    firstPage: `SELECT ${threadColumns}, thread.activity_at,
        (SELECT max(sequence) FROM thread), (SELECT move_sequence FROM store_clock),
        ${sizeExpression(counted)} FROM ${merged(ranges)}`,
    laterPage: `SELECT ${threadColumns}, thread.activity_at FROM ${merged(
      ranges.map(
        (range) => `${range} AND (activity_at, id) < (@activityAt, @id) AND sequence <= @lastSequence`,
      ),
    )}`,
    moves: moved(visible),
  };
}

/**
 * Merges index ranges of the same order while they are read, and stops at the end of the page. Only keys are merged; rows
 * are read only for the threads on the page.
 */
function merged(ranges: string[]): string {
  const keys = ranges.map(
    (range) => `SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = @organizationId AND deleted = 0 AND ${range}`,
  );
  // Every index ends with the sequence: ordering by it, too, avoids a sort.
  return `(${keys.join(' UNION ')} ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT ${count}) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence`;
}

/**
 * Threads that moved since the start, at the position that they had then: the store's clock dates later changes above it.
 * Each move is on one page of a walk, so that the cost of moves does not add up from page to page.
 */
function moved(visible: string): string {
  return `SELECT ${threadColumns}, left_activity_at FROM thread_move INDEXED BY thread_move_position
    CROSS JOIN thread ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
    WHERE thread_move.organization_id = @organizationId AND thread_move.sequence > @lastMove
      AND (left_activity_at, thread_id) < (@activityAt, @id)
      AND (left_activity_at, thread_id) >= (@lowestActivityAt, @lowestId)
      AND ${visible} AND deleted = 0 AND thread.sequence <= @lastSequence
    ORDER BY left_activity_at DESC, thread_id DESC LIMIT ${count}`;
}
