import type { OrganizationId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import { cut, isExpired, kindOf, readStart, writeStart } from '../listings.ts';
import { callColumns, join, type Sql, sql, statement, withColumns } from '../sql/sql.ts';
import { listedColumns, threadOf } from '../sql/thread-reads.ts';
import { forEachListing, isLater, type ListingQuery, laterValues, pageValues } from '../sql/walks.ts';
import type { ListedThread, Walks } from '../store.ts';
import { askedWith, type Database } from './database.ts';

type ListedRow = Omit<Thread, 'organizationId' | 'deletedAt'> & { activityAt: number };
type FirstPageRow = ListedRow & { lastSequence: number; lastMove: number; size: number; now: number };
/** There is always a row: without a thread it has only the time. */
type LaterPageRow = (ListedRow | { id: null }) & { now: number };

const pageColumns = callColumns({ text: 'organizationId userId accountId accountKey' });
const laterColumns = {
  ...pageColumns,
  ...callColumns({ text: 'afterId', bigint: 'afterActivityAt lastSequence lastMove' }),
};
const columns = sql`thread.id, thread.user_id, title, account_id, secondary_id, created_at, updated_at, published`;
const shownColumns = sql`${listedColumns(sql`page`)}, page.activity_at AS "activityAt"`;
const position = sql`activity_at DESC, id DESC`;

/** Merges index ranges of the same order: reads a page of each, then takes the first rows of all. */
function mergeRanges(ranges: readonly Sql[]): Sql {
  const pages = ranges.map(
    (range) => sql`(SELECT ${columns}, activity_at FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND ${range}
      ORDER BY ${position} LIMIT :count)`,
  );
  return sql`SELECT * FROM (${join(pages, sql` UNION `)}) AS side ORDER BY ${position} LIMIT :count`;
}

function queriesOf({ kind, ranges, size, moves }: ListingQuery) {
  const later = ranges.map((range) => sql`${range} AND ${isLater}`);
  const ofCall = (text: Sql) => withColumns(text, laterColumns);
  return {
    firstPage: statement(`firstPage ${kind}`)`
      SELECT place, ${shownColumns}, organization.thread_sequence AS "lastSequence",
        organization.move_sequence AS "lastMove", size, :now AS now
      FROM ${askedWith(pageColumns)} JOIN organization ON organization.id = asked.organization_id
      -- OFFSET 0, so that the size is computed once for a page and not for each of its rows.
      CROSS JOIN LATERAL (SELECT ${ofCall(size)} AS size OFFSET 0) AS listing
      CROSS JOIN LATERAL (${ofCall(mergeRanges(ranges))}) AS page
      ORDER BY place, page.activity_at DESC, page.id DESC`,
    // The moves are read down to the end of the page. A page that is not full reaches to the end of the listing.
    laterPage: statement(`laterPage ${kind}`)`
      SELECT place, ${shownColumns}, :now AS now
      FROM ${askedWith(laterColumns)} LEFT JOIN LATERAL (
        WITH found AS MATERIALIZED (${ofCall(mergeRanges(later))}),
        lowest AS MATERIALIZED (SELECT coalesce(max(activity_at), 0) AS activity_at, coalesce(max(id), '') AS id
          FROM (SELECT activity_at, id FROM found ORDER BY ${position} OFFSET :count - 1) AS last)
        SELECT * FROM found UNION ALL (${ofCall(moves(sql`${columns}, left_activity_at`))})
      ) AS page ON true
      ORDER BY place, page.activity_at DESC, page.id DESC`,
  };
}

const dialect = {
  isLive: sql`deleted_at IS NULL`,
  isPublished: sql`published`,
  // OFFSET 0 keeps the planner from reading all threads of the organization first.
  movedThreads: sql`thread_move CROSS JOIN LATERAL (SELECT * FROM thread AS own
    WHERE own.organization_id = thread_move.organization_id AND own.id = thread_id OFFSET 0) AS thread`,
  lowest: sql`((SELECT activity_at FROM lowest), (SELECT id FROM lowest))`,
};

/** Small batches: a page has many rows, and every caller waits for the pages of its whole batch. */
const batchLimits = { batchesMax: 2, callsMax: 16 };

/**
 * The start of a walk holds the numbers of the organization's last thread and last move at that time; both count commits.
 * Threads with a higher number are left out. Threads that have moved since are found at the position that they left.
 */
export function postgresWalks(database: Database): Walks {
  // A later page also reads the moves in its range, and an organization may have very many.
  const laterLimits = { ...batchLimits, apart: 'organizationId' };
  const pages = forEachListing(dialect, (query) => {
    const { firstPage, laterPage } = queriesOf(query);
    return {
      first: database.batched<FirstPageRow>(firstPage, pageColumns, batchLimits),
      later: database.batched<LaterPageRow>(laterPage, laterColumns, laterLimits),
    };
  });
  // One statement each, so that the page, the start of the walk and the moves are of the same moment.
  return {
    async beginWalk(organizationId, listing, limit) {
      const { first } = pages[kindOf(listing)];
      const rows = await first(pageValues(organizationId, listing, limit));
      const threads = rows.map((row) => toListedThread(organizationId, row));
      // An empty listing has no second page, so its start is never used.
      const { lastSequence = 0, lastMove = 0, now = 0, size = 0 } = rows[0] ?? {};
      return { ...cut(threads, limit), start: writeStart({ lastSequence, lastMove, at: now }), size };
    },

    async continueWalk(organizationId, listing, limit, walk) {
      const { later } = pages[kindOf(listing)];
      const start = readStart(walk.start);
      const rows = await later({
        ...pageValues(organizationId, listing, limit),
        ...laterValues(walk, start),
      });
      if (isExpired(start, rows[0]!.now)) return 'expired';
      const threads = rows.filter((row) => row.id !== null).map((row) => toListedThread(organizationId, row));
      return cut(threads, limit);
    },
  };
}

function toListedThread(organizationId: OrganizationId, row: ListedRow): ListedThread {
  const thread = threadOf({ ...row, organizationId, deletedAt: null });
  return { thread, position: { activityAt: row.activityAt, id: row.id } };
}
