import type { OrganizationId } from '../../domain/id.ts';
import { accountKey } from '../account-key.ts';
import {
  bottom,
  byPosition,
  cut,
  isExpired,
  kindOf,
  type ListingKind,
  readStart,
  writeStart,
} from '../listing-page.ts';
import type { ListedThread, Listing, Threads } from '../store.ts';
import type { Database, Statement } from './database.ts';
import { type ThreadRow, toThread } from './thread-row.ts';
import { listingQueries } from './walk-queries.ts';

type ListedRow = Omit<ThreadRow, 'organization_id' | 'deleted_at'> & { activity_at: number };
type FirstPageRow = ListedRow & { thread_sequence: number; move_sequence: number; size: number; now: number };
/** There is always one: without a thread it has the time alone. */
type LaterPageRow = (ListedRow | { id: null }) & { now: number };

const texts = listingQueries();
const statement = (kind: ListingKind, page: 'firstPage' | 'laterPage' | 'moves'): Statement => ({
  name: `${page} ${kind}`,
  text: texts[kind][page],
});

/**
 * A walk's start holds the number of the organization's last thread and last rename then; both count its commits. Later
 * threads are left out by the one; by the other, threads renamed since are found at the position they left.
 */
export function postgresWalks(database: Database): Pick<Threads, 'beginWalk' | 'continueWalk'> {
  const { run, time } = database;
  return {
    // One statement, and so one moment: the walk's start, its first page and the size of the listing.
    async beginWalk(organizationId, listing, limit) {
      const kind = kindOf(listing);
      const values = [...parameters(organizationId, listing, limit), ...time.parameters()];
      const rows = await run<FirstPageRow>(statement(kind, 'firstPage'), values);
      const threads = rows.map((row) => toListedThread(organizationId, row));
      // An empty listing has no second page, and so no use for a start.
      const { thread_sequence, move_sequence, now, size } = rows[0] ?? noRow;
      const start = writeStart({ lastSequence: thread_sequence, lastMove: move_sequence, at: now });
      return { ...cut(threads, limit), start, size };
    },

    async continueWalk(organizationId, listing, limit, { start, after }) {
      const kind = kindOf(listing);
      const begun = readStart(start);
      const { activityAt, id } = after;
      const page = [...parameters(organizationId, listing, limit), activityAt, id, begun.lastSequence];
      // The page first: a thread that is renamed in between is missing from the page, and its note is found.
      const found = await run<LaterPageRow>(statement(kind, 'laterPage'), [...page, ...time.parameters()]);
      if (isExpired(begun, found[0]!.now)) return 'expired';
      const rows = found.filter((row) => row.id !== null).map((row) => toListedThread(organizationId, row));
      // A page that is not full is the last: then it reaches to the end.
      const lowest = rows.length <= limit ? bottom : (rows.at(-1)?.position ?? bottom);
      const moves = await run<ListedRow>(statement(kind, 'moves'), [
        ...page,
        begun.lastMove,
        lowest.activityAt,
        lowest.id,
      ]);
      const moved = moves.map((row) => toListedThread(organizationId, row));
      return cut(withoutRepeats([...rows, ...moved].sort(byPosition)), limit);
    },
  };
}

const noRow = { thread_sequence: 0, move_sequence: 0, now: 0, size: 0 };

/** Between two statements a thread of the page may have been renamed: it is then found at the same position twice. */
function withoutRepeats(rows: ListedThread[]): ListedThread[] {
  return rows.filter(({ thread }, index) => thread.id !== rows[index - 1]?.thread.id);
}

/** One row more than asked for tells whether another page follows. */
function parameters(organizationId: OrganizationId, listing: Listing, limit: number): unknown[] {
  const { userId, accountId } = listing;
  return [organizationId, userId, accountId ?? null, accountKey(accountId), limit + 1];
}

function toListedThread(organizationId: OrganizationId, row: ListedRow): ListedThread {
  const thread = toThread({ ...row, organization_id: organizationId, deleted_at: null });
  return { thread, position: { activityAt: row.activity_at, id: row.id } };
}
