import { memoized } from '../../../../runtime/src/pure/memoized.ts';
import type { Thread } from '../../domain/thread.ts';
import {
  type CachedPage,
  cachedThread,
  cachePage,
  type FirstPage,
  firstPageMsMax,
  pageName,
} from '../cache/page-cache.ts';
import { byPosition, cut, isExpired, readStart, writeStart } from '../port/listings.ts';
import type { ListedThread, Walks } from '../port/store.ts';
import { join, type Sql, type Statement, sql, sqliteStatement, type Values } from '../sql/sql.ts';
import { threadColumns } from '../sql/thread-reads.ts';
import {
  deriveKind,
  forEachListing,
  isLater,
  type ListingKind,
  type ListingQuery,
  laterValues,
  pageValues,
} from '../sql/walks.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { WatchedCache } from './watched-cache.ts';

/** `threadColumns` and others, read with `.raw()`: a page of arrays costs a quarter less than one of objects. */
export type ThreadRow = readonly unknown[];

export const threadColumnCount = 10;

export function toThread(row: ThreadRow): Thread {
  const thread: Readonly<Record<keyof Thread, unknown>> = {
    organizationId: row[0],
    id: row[1],
    userId: row[2],
    title: row[3],
    accountId: row[4],
    secondaryId: row[5],
    createdAt: row[6],
    updatedAt: row[7],
    published: row[8] === 1,
    deletedAt: row[9],
  };
  return thread as Thread;
}

/** A walk skips threads that are newer than its start, and finds threads that have moved since at their old position. */
export function sqliteWalks(database: Database, commits: CommitQueue, cache: WatchedCache): Walks {
  const prepare = ({ sql }: Statement) => database.prepare<[Values], ThreadRow>(sql).raw();
  // Prepared on first use: preparing all of them takes 4 ms, a fifth of the time of most commands.
  const prepared = memoized((query: ListingStatements) => {
    const { firstPage, laterPage, moves } = query;
    return { firstPage: prepare(firstPage), laterPage: prepare(laterPage), moves: prepare(moves) };
  });

  /** The column after those of the thread is its activity when the walk started. */
  function toListed(row: ThreadRow): ListedThread {
    const thread = cachedThread(cache, toThread(row));
    return { thread, position: { activityAt: row[threadColumnCount] as number, id: thread.id } };
  }

  /** In one transaction, so that the page and the moves are consistent. */
  const readLater = database.transaction((kind: ListingKind, limit: number, values: Values) => {
    const { laterPage, moves } = prepared(listings[kind]);
    const rows = laterPage.all(values).map(toListed);
    // Down to the end of the page. A page that is not full reaches to the end of the listing.
    const { activityAt, id } = rows.length <= limit ? { activityAt: 0, id: '' } : rows.at(-1)!.position;
    const moved = moves.all({ ...values, lowestActivityAt: activityAt, lowestId: id }).map(toListed);
    return cut(moved.length === 0 ? rows : [...rows, ...moved].sort(byPosition), limit);
  });

  return {
    // One statement, so that the walk's start, its first page and the size of the listing are consistent.
    async beginWalk(organizationId, listing, limit) {
      // Read before the page, so that a move that the page does not show is not older than the start.
      const at = commits.now();
      const name = pageName(organizationId, listing, limit);
      const state = cache.listingChange(organizationId);
      const cached = cache.get<CachedPage<FirstPage>>(name);
      if (cached?.state === state && at - cached.at < firstPageMsMax) return cached.page;
      const { firstPage } = prepared(listings[deriveKind(listing)]);
      const rows = firstPage.all(pageValues(organizationId, listing, limit));
      // An empty listing has no second page, so its start does not matter.
      const [lastSequence, lastMove, size] = (rows[0]?.slice(-3) ?? [0, 0, 0]) as [number, number, number];
      const start = writeStart({ lastSequence, lastMove, at });
      const page = { ...cut(rows.map(toListed), limit), start, size };
      return cachePage(cache, name, { page, state, at });
    },

    async continueWalk(organizationId, listing, limit, walk) {
      const start = readStart(walk.start);
      const at = commits.now();
      if (isExpired(start, at)) return 'expired';
      const name = pageName(organizationId, listing, limit, walk);
      const state = cache.listingChange(organizationId);
      const cached = cache.get<CachedPage>(name);
      if (cached?.state === state) return cached.page;
      const values = { ...pageValues(organizationId, listing, limit), ...laterValues(walk.after, start) };
      const page = readLater(deriveKind(listing), limit, values);
      return cachePage(cache, name, { page, state, at });
    },
  };
}

const dialect = {
  isLive: sql`deleted_at IS NULL`,
  isPublished: sql`published = 1`,
  movedThreads: sql`thread_move INDEXED BY thread_move_position CROSS JOIN thread
    ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id`,
  lowest: sql`(:lowestActivityAt, :lowestId)`,
};

/** `+ 0`, because SQLite would compile a query with a bare parameter again for each value: 50 µs per page. */
const rowsMax = sql`:count + 0`;

/** The statements of each listing. */
export const listings = forEachListing(dialect, createStatements);
type ListingStatements = ReturnType<typeof createStatements>;

function createStatements({ kind, ranges, size, moves }: ListingQuery) {
  return {
    firstPage: sqliteStatement(`firstPage ${kind}`)`SELECT ${threadColumns}, thread.activity_at,
        (SELECT max(sequence) FROM thread), (SELECT move_sequence FROM store_clock),
        ${size} FROM ${merged(ranges)}`,
    laterPage: sqliteStatement(`laterPage ${kind}`)`SELECT ${threadColumns}, thread.activity_at
      FROM ${merged(ranges.map((range) => sql`${range} AND ${isLater}`))}`,
    moves: sqliteStatement(`moves ${kind}`)`${moves(sql`${threadColumns}, left_activity_at`, rowsMax)}`,
  };
}

/** Merges index ranges of the same order up to the end of the page, and reads rows only for the threads on the page. */
function merged(ranges: readonly Sql[]): Sql {
  const keys = ranges.map(
    (range) => sql`SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND ${range}`,
  );
  // Every index ends with the sequence: ordering by it, too, avoids a sort.
  return sql`(${join(keys, sql` UNION `)} ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT ${rowsMax}) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence`;
}
