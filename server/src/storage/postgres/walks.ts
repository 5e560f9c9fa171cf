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
  readStart,
  writeStart,
} from '../listings.ts';
import { askedOnce, join, type Sql, type Statement, sql, statement, type Values } from '../sql/sql.ts';
import { listedColumns, threadOf } from '../sql/thread-reads.ts';
import type { ListedThread, Listing, Threads } from '../store.ts';
import { askedWith, type Database } from './database.ts';
import { mineSize, ownSize, publishedSize } from './thread-listing.ts';

type ListedRow = Omit<Thread, 'organizationId' | 'deletedAt'> & { activityAt: number };
type FirstPageRow = ListedRow & { lastSequence: number; lastMove: number; size: number; now: number };
/** There is always a row: without a thread it has only the time. */
type LaterPageRow = (ListedRow | { id: null }) & { now: number };

interface Queries {
  readonly firstPage: Statement;
  readonly laterPage: Statement;
  readonly moves: Statement;
}

const pageCalls = { organizationId: 'text', userId: 'text', accountId: 'text', accountKey: 'text' } as const;
const laterCalls = {
  ...pageCalls,
  afterActivityAt: 'bigint',
  afterId: 'text',
  lastSequence: 'bigint',
} as const;
const moveCalls = {
  ...laterCalls,
  lastMove: 'bigint',
  lowestActivityAt: 'bigint',
  lowestId: 'text',
} as const;

const columns = sql`id, user_id, title, account_id, secondary_id, created_at, updated_at, published, activity_at`;
const pageColumns = sql`${listedColumns(sql`page`)}, page.activity_at AS "activityAt"`;
const position = sql`activity_at DESC, id DESC`;

/** Merges index ranges of the same order: reads a page of each, then takes the first rows of all. */
function mergeRanges(ranges: readonly Sql[]): Sql {
  const pages = ranges.map(
    (range) => sql`(SELECT ${columns} FROM thread
      WHERE organization_id = asked.organization_id AND deleted_at IS NULL AND ${range}
      ORDER BY ${position} LIMIT :count)`,
  );
  return sql`LATERAL (
    SELECT * FROM (${join(pages, sql` UNION `)}) AS side ORDER BY ${position} LIMIT :count) AS page`;
}

function queriesOf(kind: ListingKind, size: Sql, visible: Sql, ...ranges: Sql[]): Queries {
  const isLater = sql`(activity_at, id) < (asked.after_activity_at, asked.after_id) AND sequence <= last_sequence`;
  const later = ranges.map((range) => sql`${range} AND ${isLater}`);
  return {
    firstPage: statement(`firstPage ${kind}`)`
      SELECT place, ${pageColumns}, organization.thread_sequence AS "lastSequence",
        organization.move_sequence AS "lastMove", size, :now AS now
      FROM ${askedWith(pageCalls)} JOIN organization ON organization.id = asked.organization_id
      -- OFFSET 0, so that the size is computed once for a page and not for each of its rows.
      CROSS JOIN LATERAL (SELECT ${size} AS size OFFSET 0) AS listing
      CROSS JOIN ${mergeRanges(ranges)} ORDER BY place, page.activity_at DESC, page.id DESC`,
    laterPage: statement(`laterPage ${kind}`)`
      SELECT ${pageColumns}, moment.now
      FROM ${askedOnce(laterCalls)} CROSS JOIN (SELECT :now AS now) AS moment LEFT JOIN ${mergeRanges(later)} ON true
      ORDER BY page.activity_at DESC, page.id DESC`,
    // A rename since the start of the walk left the position that the thread had then, because the organization's time puts
    // every later position above it. Each move belongs to one page of a walk, so renames do not add up from page to page.
    moves: statement(`moves ${kind}`)`
      SELECT ${listedColumns(sql`thread`)}, left_activity_at AS "activityAt"
      FROM ${askedOnce(moveCalls)} JOIN thread_move ON thread_move.organization_id = asked.organization_id
      JOIN thread ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
      WHERE thread_move.sequence > last_move
        AND (left_activity_at, thread_id) < (after_activity_at, after_id)
        AND (left_activity_at, thread_id) >= (lowest_activity_at, lowest_id)
        AND ${visible} AND deleted_at IS NULL AND thread.sequence <= last_sequence
      ORDER BY left_activity_at DESC, thread_id DESC LIMIT :count`,
  };
}

const mine = sql`thread.user_id = asked.user_id`;
const published = sql`published`;
const own = sql`(${mine} OR ${published})`;
const inAccount = (range: Sql) => sql`${range} AND thread.account_id = asked.account_id`;
const queries: Readonly<Record<ListingKind, Queries>> = {
  own: queriesOf('own', ownSize, own, mine, published),
  ownAccount: queriesOf('ownAccount', ownSize, inAccount(own), inAccount(mine), inAccount(published)),
  published: queriesOf('published', publishedSize, published, published),
  publishedAccount: queriesOf('publishedAccount', publishedSize, inAccount(published), inAccount(published)),
  mine: queriesOf('mine', mineSize, mine, mine),
  mineAccount: queriesOf('mineAccount', mineSize, inAccount(mine), inAccount(mine)),
};

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
      database.batched<FirstPageRow>(firstPage, pageCalls, batchLimits),
    ]),
  );
  return {
    // One statement, so that the start, the first page and the size of the listing are of the same moment.
    async beginWalk(organizationId, listing, limit) {
      const firstPage = firstPages.get(kindOf(listing))!;
      const rows = await firstPage(valuesOf(organizationId, listing, limit));
      const threads = rows.map((row) => toListedThread(organizationId, row));
      // An empty listing has no second page, so its start is never used.
      const { lastSequence, lastMove, now, size } = rows[0] ?? {
        lastSequence: 0,
        lastMove: 0,
        now: 0,
        size: 0,
      };
      return { ...cut(threads, limit), start: writeStart({ lastSequence, lastMove, at: now }), size };
    },

    async continueWalk(organizationId, listing, limit, { start, after }) {
      const { laterPage, moves } = queries[kindOf(listing)];
      const started = readStart(start);
      const { lastSequence, lastMove } = started;
      const values = {
        ...valuesOf(organizationId, listing, limit),
        afterActivityAt: after.activityAt,
        afterId: after.id,
        lastSequence,
        lastMove,
      };
      // The page is read before the moves: a thread renamed in between is missing from the page, but its move is found.
      const found = await run<LaterPageRow>(laterPage, values);
      if (isExpired(started, found[0]!.now)) return 'expired';
      const rows = found.filter((row) => row.id !== null).map((row) => toListedThread(organizationId, row));
      // A page that is not full is the last one and reaches to the end of the listing.
      const lowest = rows.length <= limit ? bottom : (rows.at(-1)?.position ?? bottom);
      const range = { lowestActivityAt: lowest.activityAt, lowestId: lowest.id };
      const left = await run<ListedRow>(moves, { ...values, ...range });
      const moved = left.map((row) => toListedThread(organizationId, row));
      return cut(withoutRepeats([...rows, ...moved].sort(byPosition)), limit);
    },
  };
}

/** A thread of the page that is renamed between the two statements is found twice at the same position. */
function withoutRepeats(rows: ListedThread[]): ListedThread[] {
  return rows.filter(({ thread }, index) => thread.id !== rows[index - 1]?.thread.id);
}

/** Reads one row more than the page has, to know whether another page follows. */
function valuesOf(organizationId: OrganizationId, { userId, accountId }: Listing, limit: number): Values {
  const account = { accountId: accountId ?? null, accountKey: accountKey(accountId) };
  return { organizationId, userId, ...account, count: limit + 1 };
}

function toListedThread(organizationId: OrganizationId, row: ListedRow): ListedThread {
  const thread = threadOf({ ...row, organizationId, deletedAt: null });
  return { thread, position: { activityAt: row.activityAt, id: row.id } };
}
