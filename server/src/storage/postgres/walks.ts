import type { OrganizationId } from '../../domain/id.ts';
import { limits } from '../../domain/limits.ts';
import type { Thread } from '../../domain/thread.ts';
import type { ObjectCache } from '../cache/object-cache.ts';
import {
  type CachedPage,
  cachedThread,
  cachePage,
  type FirstPage,
  firstPageMsMax,
  pageName,
} from '../cache/page-cache.ts';
import { cut, isExpired, readStart, writeStart } from '../port/listings.ts';
import type { ListedThread, Listing, Walks } from '../port/store.ts';
import { callColumns, join, postgresStatement, type Sql, sql, withColumns } from '../sql/sql.ts';
import { listedColumns, pickThread } from '../sql/thread-reads.ts';
import {
  deriveKind,
  forEachListing,
  isLater,
  type ListingQuery,
  laterValues,
  pageValues,
} from '../sql/walks.ts';
import { callsWith, type Database } from './database.ts';

type ListedRow = Omit<Thread, 'organizationId' | 'deletedAt'> & { activityAt: number };
/** There is always a row. It has no thread if the page is empty, or if the state is the one that the caller knows. */
type PageRow = (ListedRow | { id: null }) & { state: string; now: number };
type FirstPageRow = PageRow & { lastSequence: number; lastMove: number; size: number };

const pageColumns = callColumns({ text: 'organizationId userId accountId accountKey knownState' });
const laterColumns = {
  ...pageColumns,
  ...callColumns({ text: 'afterId', bigint: 'afterActivityAt lastSequence lastMove' }),
};
const columns = sql`thread.id, thread.user_id, title, account_id, secondary_id, created_at, updated_at, published`;
const shownColumns = sql`${listedColumns(sql`page`)}, page.activity_at AS "activityAt"`;
const position = sql`activity_at DESC, id DESC`;
/** Every change that listings show raises a sequence. The time distinguishes numbers that a failover gave out twice. */
const stateOfListings = sql`LATERAL (
      SELECT concat_ws(' ', thread_sequence, move_sequence, latest_at) AS state OFFSET 0) AS listings`;
/** Does not depend on a row, so nothing is read if it does not hold. */
const isNew = sql`listings.state <> call.known_state`;

/**
 * How many rows a query reads at most: those of a page, and one more. Constants: with a parameter as the limit, the planner
 * assumes a tenth of all rows, finds a generic plan too expensive and replans every call. Three sizes, because
 * later pages of 50 threads took twice as long with 101 rows as with 51.
 */
const rowsOfPages = [26, 51, limits.pageSizeMax.default + 1];

/** Merges index ranges of the same order: reads `rowsMax` of each, then takes the first rows of all. */
function mergeRanges(ranges: readonly Sql[], rowsMax: number): Sql {
  const pages = ranges.map(
    (range) => sql`(SELECT ${columns}, activity_at FROM thread
      WHERE organization_id = :organizationId AND ${isNew} AND deleted_at IS NULL AND ${range}
      ORDER BY ${position} LIMIT ${rowsMax})`,
  );
  return sql`SELECT * FROM (${join(pages, sql` UNION `)}) AS side ORDER BY ${position} LIMIT :count`;
}

function createQueries({ kind, ranges, size, moves }: ListingQuery, rowsMax: number) {
  const later = ranges.map((range) => sql`${range} AND ${isLater}`);
  const ofCall = (text: Sql) => withColumns(text, laterColumns);
  return {
    firstPage: postgresStatement(`firstPage ${kind} ${rowsMax}`)`
      SELECT ordinal, ${shownColumns}, organization.thread_sequence AS "lastSequence",
        organization.move_sequence AS "lastMove", size, state, :now AS now
      FROM ${callsWith(pageColumns)} JOIN organization ON organization.id = call.organization_id
      CROSS JOIN ${stateOfListings}
      -- OFFSET 0, so that the size is computed once for a page and not for each of its rows.
      CROSS JOIN LATERAL (SELECT CASE WHEN ${isNew} THEN ${ofCall(size)} END AS size OFFSET 0) AS listing
      LEFT JOIN LATERAL (${ofCall(mergeRanges(ranges, rowsMax))}) AS page ON true
      ORDER BY ordinal, page.activity_at DESC, page.id DESC`,
    // The moves are read down to the end of the page. A page that is not full reaches to the end of the listing.
    laterPage: postgresStatement(`laterPage ${kind} ${rowsMax}`)`
      SELECT ordinal, ${shownColumns}, state, :now AS now
      FROM ${callsWith(laterColumns)} JOIN organization ON organization.id = call.organization_id
      CROSS JOIN ${stateOfListings}
      LEFT JOIN LATERAL (
        WITH found AS MATERIALIZED (${ofCall(mergeRanges(later, rowsMax))}),
        lowest AS MATERIALIZED (SELECT coalesce(max(activity_at), 0) AS activity_at, coalesce(max(id), '') AS id
          FROM (SELECT activity_at, id FROM found ORDER BY ${position} OFFSET :count - 1) AS last)
        SELECT * FROM found UNION ALL (${ofCall(moves(sql`${columns}, left_activity_at`, sql`${rowsMax}`))})
      ) AS page ON true
      ORDER BY ordinal, page.activity_at DESC, page.id DESC`,
  };
}

const dialect = {
  isLive: sql`${isNew} AND deleted_at IS NULL`,
  isPublished: sql`published`,
  // OFFSET 0 keeps the planner from reading all threads of the organization first.
  movedThreads: sql`thread_move CROSS JOIN LATERAL (SELECT * FROM thread AS own
    WHERE own.organization_id = thread_move.organization_id AND own.id = thread_id OFFSET 0) AS thread`,
  lowest: sql`((SELECT activity_at FROM lowest), (SELECT id FROM lowest))`,
};

/** Small batches: a page has many rows, and every caller waits for the pages of its whole batch. */
const batchLimits = { batchesMax: 2, callsMax: 16 };

/** A walk skips threads that are newer than its start, and finds threads that have moved since at their old position. */
export function postgresWalks(database: Database, cache: ObjectCache): Walks {
  // A later page also reads the moves in its range, and an organization may have very many.
  const laterLimits = { ...batchLimits, separateBy: 'organizationId' };
  const pages = forEachListing(dialect, (query) =>
    rowsOfPages.map((rowsMax) => {
      const { firstPage, laterPage } = createQueries(query, rowsMax);
      return {
        rowsMax,
        first: database.batched<FirstPageRow>(firstPage, pageColumns, batchLimits),
        later: database.batched<PageRow>(laterPage, laterColumns, laterLimits),
      };
    }),
  );
  const findPages = (listing: Listing, limit: number) =>
    pages[deriveKind(listing)].find(({ rowsMax }) => limit < rowsMax)!;
  const toListed = (organizationId: OrganizationId, rows: readonly PageRow[]): ListedThread[] =>
    rows
      .filter((row) => row.id !== null)
      .map((row) => ({
        thread: cachedThread(cache, pickThread({ ...row, organizationId, deletedAt: null })),
        position: { activityAt: row.activityAt, id: row.id },
      }));
  // One statement each, so that the page, the start of the walk and the moves are of the same moment.
  return {
    async beginWalk(organizationId, listing, limit) {
      const { first } = findPages(listing, limit);
      const name = pageName(organizationId, listing, limit);
      const known = cache.peek<CachedPage<FirstPage>>(name);
      const values = { ...pageValues(organizationId, listing, limit), knownState: known?.state ?? '' };
      const rows = await first(values);
      const [head] = rows;
      if (head === undefined) return { rows: [], more: false, start: '', size: 0 };
      const { state, lastSequence, lastMove, now: at } = head;
      const isKnown = state === known?.state;
      if (isKnown && at - known.at < firstPageMsMax) return known.page;
      const start = writeStart({ lastSequence, lastMove, at });
      const page = isKnown
        ? { ...known.page, start }
        : { ...cut(toListed(organizationId, rows), limit), start, size: head.size };
      return cachePage(cache, name, { page, state, at });
    },

    async continueWalk(organizationId, listing, limit, walk) {
      const { later } = findPages(listing, limit);
      const start = readStart(walk.start);
      const name = pageName(organizationId, listing, limit, walk);
      const known = cache.peek<CachedPage>(name);
      const values = { ...pageValues(organizationId, listing, limit), ...laterValues(walk.after, start) };
      const rows = await later({ ...values, knownState: known?.state ?? '' });
      const [head] = rows;
      if (head === undefined || isExpired(start, head.now)) return 'expired';
      const { state, now: at } = head;
      if (state === known?.state) return known.page;
      return cachePage(cache, name, { page: cut(toListed(organizationId, rows), limit), state, at });
    },
  };
}
