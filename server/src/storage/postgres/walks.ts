import type { OrganizationId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import { cut, isExpired, kindOf, readStart, writeStart } from '../listings.ts';
import { callColumns, join, type Sql, sql, statement } from '../sql/sql.ts';
import { listedColumns, threadOf } from '../sql/thread-reads.ts';
import {
  forEachListing,
  isLater,
  type ListingQuery,
  laterValues,
  lowestValues,
  namedValues,
  pageValues,
  type WalkValues,
  withMoved,
} from '../sql/walks.ts';
import type { ListedThread, Threads } from '../store.ts';
import { askedWith, type Database } from './database.ts';

type ListedRow = Omit<Thread, 'organizationId' | 'deletedAt'> & { activityAt: number };
type FirstPageRow = ListedRow & { lastSequence: number; lastMove: number; size: number; now: number };
/** There is always a row: without a thread it has only the time. */
type LaterPageRow = (ListedRow | { id: null }) & { now: number };

const pageColumns = callColumns({ text: 'organizationId userId accountId accountKey' });
const askedValues: WalkValues = {
  organizationId: sql`asked.organization_id`,
  userId: sql`asked.user_id`,
  accountId: sql`asked.account_id`,
  accountKey: sql`asked.account_key`,
};

const columns = sql`id, user_id, title, account_id, secondary_id, created_at, updated_at, published, activity_at`;
const shownColumns = sql`${listedColumns(sql`page`)}, page.activity_at AS "activityAt"`;
const position = sql`activity_at DESC, id DESC`;

/** Merges index ranges of the same order: reads a page of each, then takes the first rows of all. */
function mergeRanges({ organizationId }: WalkValues, ranges: readonly Sql[]): Sql {
  const pages = ranges.map(
    (range) => sql`(SELECT ${columns} FROM thread
      WHERE organization_id = ${organizationId} AND deleted_at IS NULL AND ${range}
      ORDER BY ${position} LIMIT :count)`,
  );
  return sql`LATERAL (
    SELECT * FROM (${join(pages, sql` UNION `)}) AS side ORDER BY ${position} LIMIT :count) AS page`;
}

function queriesOf({ kind, ranges, size, moves }: ListingQuery) {
  const later = ranges(namedValues).map((range) => sql`${range} AND ${isLater}`);
  return {
    firstPage: statement(`firstPage ${kind}`)`
      SELECT place, ${shownColumns}, organization.thread_sequence AS "lastSequence",
        organization.move_sequence AS "lastMove", size, :now AS now
      FROM ${askedWith(pageColumns)} JOIN organization ON organization.id = asked.organization_id
      -- OFFSET 0, so that the size is computed once for a page and not for each of its rows.
      CROSS JOIN LATERAL (SELECT ${size(askedValues)} AS size OFFSET 0) AS listing
      CROSS JOIN ${mergeRanges(askedValues, ranges(askedValues))}
      ORDER BY place, page.activity_at DESC, page.id DESC`,
    laterPage: statement(`laterPage ${kind}`)`
      SELECT ${shownColumns}, moment.now
      FROM (SELECT :now AS now) AS moment LEFT JOIN ${mergeRanges(namedValues, later)} ON true
      ORDER BY page.activity_at DESC, page.id DESC`,
    moves,
  };
}

const queries = forEachListing({ isLive: sql`deleted_at IS NULL`, isPublished: sql`published` }, queriesOf);

/** Small batches: a page has many rows, and every caller waits for the pages of its whole batch. */
const batchLimits = { batchesMax: 2, callsMax: 16 };

/**
 * The start of a walk holds the numbers of the organization's last thread and last move at that time; both count commits.
 * Threads with a higher number are left out. Threads that have moved since are found at the position that they left.
 */
export function postgresWalks(database: Database): Pick<Threads, 'beginWalk' | 'continueWalk'> {
  const { run } = database;
  const firstPages = new Map(
    Object.entries(queries).map(([kind, { firstPage }]) => [
      kind,
      database.batched<FirstPageRow>(firstPage, pageColumns, batchLimits),
    ]),
  );
  return {
    // One statement, so that the start, the first page and the size of the listing are of the same moment.
    async beginWalk(organizationId, listing, limit) {
      const firstPage = firstPages.get(kindOf(listing))!;
      const rows = await firstPage(pageValues(organizationId, listing, limit));
      const threads = rows.map((row) => toListedThread(organizationId, row));
      // An empty listing has no second page, so its start is never used.
      const { lastSequence = 0, lastMove = 0, now = 0, size = 0 } = rows[0] ?? {};
      return { ...cut(threads, limit), start: writeStart({ lastSequence, lastMove, at: now }), size };
    },

    async continueWalk(organizationId, listing, limit, walk) {
      const { laterPage, moves } = queries[kindOf(listing)];
      const start = readStart(walk.start);
      const values = { ...pageValues(organizationId, listing, limit), ...laterValues(walk, start) };
      // The page is read before the moves: a thread renamed in between is missing from the page, but its move is found.
      const found = await run<LaterPageRow>(laterPage, values);
      if (isExpired(start, found[0]!.now)) return 'expired';
      const rows = found.filter((row) => row.id !== null).map((row) => toListedThread(organizationId, row));
      const moved = await run<ListedRow>(moves, { ...values, ...lowestValues(rows, limit) });
      return withMoved(
        rows,
        moved.map((row) => toListedThread(organizationId, row)),
        limit,
      );
    },
  };
}

function toListedThread(organizationId: OrganizationId, row: ListedRow): ListedThread {
  const thread = threadOf({ ...row, organizationId, deletedAt: null });
  return { thread, position: { activityAt: row.activityAt, id: row.id } };
}
