import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import { accountKey } from '../account-key.ts';
import {
  bottom,
  byPosition,
  cut,
  isExpired,
  kindOf,
  type ListingKind,
  listingKinds,
  readStart,
  writeStart,
} from '../listing-page.ts';
import type { ListedThread, Listing, Threads } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { toThread } from './thread-row.ts';
import { listingQueries } from './walk-queries.ts';

/** What every query of a walk is given; one row more than asked for tells whether another page follows. */
interface ListingParameters {
  organizationId: OrganizationId;
  userId: string | null;
  accountId: string | null;
  accountKey: string;
  count: number;
}

interface PageParameters extends ListingParameters {
  activityAt: number;
  id: string;
  lastSequence: number;
}

interface MoveParameters extends PageParameters {
  lastMove: number;
  lowestActivityAt: number;
  lowestId: string;
}

/** Few columns, as arrays: a page is many rows. `position` is where the thread stood when the walk began. */
export type ListedRow = [
  id: ThreadId,
  userId: UserId,
  title: string,
  accountId: string | null,
  secondaryId: string | null,
  createdAt: number,
  updatedAt: number | null,
  published: number,
  activityAt: number,
];
type FirstPageRow = [...ListedRow, lastSequence: number, lastMove: number, size: number];

/**
 * A walk's start holds the number of the last thread and of the last rename then; both count commits. Later threads are
 * left out by the one; by the other, threads renamed since are found at the position they left.
 */
export function sqliteWalks(
  database: Database,
  commits: CommitQueue,
): Pick<Threads, 'beginWalk' | 'continueWalk'> {
  const queries = listingQueries();
  const prepare = <Parameters, Row>(sqlOf: (kind: ListingKind) => string) => {
    const statement = (kind: ListingKind) => database.prepare<[Parameters], Row>(sqlOf(kind)).raw();
    const statements = listingKinds.map((kind) => [kind, statement(kind)]);
    return Object.fromEntries(statements) as Record<ListingKind, ReturnType<typeof statement>>;
  };
  const firstPages = prepare<ListingParameters, FirstPageRow>((kind) => queries[kind].firstPage);
  const laterPages = prepare<PageParameters, ListedRow>((kind) => queries[kind].laterPage);
  const moves = prepare<MoveParameters, ListedRow>((kind) => queries[kind].moves);

  const proceed = database.transaction((kind: ListingKind, parameters: PageParameters, lastMove: number) => {
    const rows = laterPages[kind]
      .all(parameters)
      .map((row) => toListedThread(parameters.organizationId, row));
    // A page that is not full is the last: then it reaches to the end.
    const lowest = rows.length < parameters.count ? bottom : (rows.at(-1)?.position ?? bottom);
    const bounds = { lastMove, lowestActivityAt: lowest.activityAt, lowestId: lowest.id };
    const moved = moves[kind].all({ ...parameters, ...bounds });
    if (moved.length === 0) return rows;
    const movedRows = moved.map((row) => toListedThread(parameters.organizationId, row));
    return [...rows, ...movedRows].sort(byPosition);
  });

  return {
    // One statement, and so one moment: the walk's start, its first page and the size of the listing.
    async beginWalk(organizationId, listing, limit) {
      // Before the page is read: a move that it does not show is not dated earlier.
      const at = commits.now();
      const rows = firstPages[kindOf(listing)].all(listingParameters(organizationId, listing, limit));
      // An empty listing has no second page, and so no use for a start.
      const [lastSequence, lastMove, size] = rows[0]?.slice(-3) ?? [0, 0, 0];
      const threads = rows.map((row) => toListedThread(organizationId, row));
      const start = { lastSequence: Number(lastSequence), lastMove: Number(lastMove), at };
      return { ...cut(threads, limit), start: writeStart(start), size: Number(size) };
    },

    async continueWalk(organizationId, listing, limit, walk) {
      const start = readStart(walk.start);
      if (isExpired(start, commits.now())) return 'expired';
      const { lastSequence, lastMove } = start;
      const parameters = {
        ...listingParameters(organizationId, listing, limit),
        ...walk.after,
        lastSequence,
      };
      return cut(proceed(kindOf(listing), parameters, lastMove), limit);
    },
  };
}

function listingParameters(
  organizationId: OrganizationId,
  { userId, accountId }: Listing,
  limit: number,
): ListingParameters {
  return {
    organizationId,
    userId,
    accountId: accountId ?? null,
    accountKey: accountKey(accountId),
    count: limit + 1,
  };
}

function toListedThread(
  organizationId: OrganizationId,
  row: readonly [...ListedRow, ...unknown[]],
): ListedThread {
  const [id, userId, title, accountId, secondaryId, createdAt, updatedAt, published, activityAt] = row;
  return {
    thread: toThread([
      organizationId,
      id,
      userId,
      title,
      accountId,
      secondaryId,
      createdAt,
      updatedAt,
      published,
      null,
    ]),
    position: { activityAt, id },
  };
}
