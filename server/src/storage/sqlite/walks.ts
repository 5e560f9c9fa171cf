import type { Position } from '../../domain/cursor.ts';
import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import type { ListedThread, Listing, ThreadPage, Threads } from '../store.ts';
import type { Database } from './database.ts';
import { sqliteListingSizes } from './listing-sizes.ts';
import { type ThreadRow, threadColumnCount, threadColumns, toThread } from './thread-row.ts';

interface WalkParameters {
  organizationId: OrganizationId;
  userId: string | null;
  accountId: string | null;
  activityAt: number;
  id: string;
  lastSequence: number;
  count: number;
}

interface MoveParameters extends WalkParameters {
  lastMove: number;
  lowestActivityAt: number;
  lowestId: string;
}

type MovedRow = [...ThreadRow, leftActivityAt: number];

/** Before the first row of any listing, and after the last. */
const top = { activityAt: Number.MAX_SAFE_INTEGER, id: '' as ThreadId };
const bottom = { activityAt: 0, id: '' as ThreadId };

/**
 * A walk's start is the number of the last thread and of the last rename then; both count commits. Later threads are
 * left out by the one; by the other, threads renamed since are found at the position they left.
 */
export function sqliteWalks(database: Database): Pick<Threads, 'beginWalk' | 'continueWalk'> {
  const sizes = sqliteListingSizes(database);
  const marks = database
    .prepare<[], [lastThread: number, lastMove: number]>(
      `SELECT coalesce((SELECT max(sequence) FROM thread), 0), coalesce((SELECT max(sequence) FROM thread_move), 0)`,
    )
    .raw();
  const pages = prepareEach<WalkParameters, ThreadRow>(database, pageQueries());
  const moves = prepareEach<MoveParameters, MovedRow>(database, moveQueries());

  function page(parameters: WalkParameters): ListedThread[] {
    return pages[listingKind(parameters)].all(parameters).map((row) => {
      const thread = toThread(row);
      return { thread, position: { activityAt: thread.updatedAt ?? thread.createdAt, id: thread.id } };
    });
  }

  /** Threads renamed since the walk's start that stood between the page's ends then. */
  function moved(parameters: WalkParameters, lastMove: number, rows: ListedThread[]): ListedThread[] {
    // A page that is not full is the last: then it reaches to the end.
    const lowest = rows.length < parameters.count ? bottom : (rows.at(-1)?.position ?? bottom);
    const bounds = { lastMove, lowestActivityAt: lowest.activityAt, lowestId: lowest.id };
    return moves[listingKind(parameters)].all({ ...parameters, ...bounds }).map((row) => ({
      thread: toThread(row),
      position: { activityAt: row[threadColumnCount], id: row[1] },
    }));
  }

  const begin = database.transaction((organizationId: OrganizationId, listing: Listing, limit: number) => {
    const [lastSequence, lastMove] = marks.get() as [number, number];
    const rows = page(walkParameters(organizationId, listing, top, lastSequence, limit));
    const start = `${lastSequence}.${lastMove}`;
    return { ...cut(rows, limit), start, size: sizes.of(organizationId, listing) };
  });

  const proceed = database.transaction(
    (organizationId: OrganizationId, listing: Listing, limit: number, start: string, after: Position) => {
      const [lastSequence = 0, lastMove = 0] = start.split('.').map(Number);
      const parameters = walkParameters(organizationId, listing, after, lastSequence, limit);
      const rows = page(parameters);
      const movedRows = moved(parameters, lastMove, rows);
      return cut(movedRows.length === 0 ? rows : [...rows, ...movedRows].sort(byPosition), limit);
    },
  );

  return {
    beginWalk: async (organizationId, listing, limit) => begin(organizationId, listing, limit),
    continueWalk: async (organizationId, listing, limit, { start, after }) =>
      proceed(organizationId, listing, limit, start, after),
  };
}

type ListingKind = 'own' | 'ownAccount' | 'published' | 'publishedAccount';

function listingKind({ userId, accountId }: WalkParameters): ListingKind {
  if (userId === null) return accountId === null ? 'published' : 'publishedAccount';
  return accountId === null ? 'own' : 'ownAccount';
}

/**
 * Own and published are two index ranges in the same order, merged as they are read: the page takes its first rows and
 * the merge stops there. Only keys are merged; the rows themselves are read for the page alone.
 */
function pageQueries(): Record<ListingKind, string> {
  const range = (conditions: string) => `
    SELECT activity_at, id, sequence FROM thread
    WHERE organization_id = @organizationId AND ${conditions} AND deleted = 0
      AND (activity_at, id) < (@activityAt, @id) AND sequence <= @lastSequence`;
  // The sequence is the tail of every index: with it in the order, neither side needs sorting.
  const page = (...ranges: string[]) =>
    `SELECT ${threadColumns} FROM (
       ${ranges.join(' UNION ')} ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT @count) AS page
     CROSS JOIN thread ON thread.sequence = page.sequence`;
  const own = range('user_id = @userId');
  const ownAccount = range('user_id = @userId AND account_id = @accountId');
  const published = range('published = 1');
  const publishedAccount = range('account_id = @accountId AND published = 1');
  return {
    own: page(own, published),
    ownAccount: page(ownAccount, publishedAccount),
    published: page(published),
    publishedAccount: page(publishedAccount),
  };
}

/**
 * A rename since the start left the position that the thread had at the start: the store's clock puts everything that
 * comes later above it. Each move is met on one page of a walk, so renames do not add up from page to page.
 */
function moveQueries(): Record<ListingKind, string> {
  const moved = (visible: string) =>
    `SELECT ${threadColumns}, left_activity_at FROM thread_move
     CROSS JOIN thread ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
     WHERE thread_move.organization_id = @organizationId AND thread_move.sequence > @lastMove
       AND (left_activity_at, thread_id) < (@activityAt, @id)
       AND (left_activity_at, thread_id) >= (@lowestActivityAt, @lowestId)
       AND ${visible} AND deleted = 0 AND thread.sequence <= @lastSequence
     ORDER BY left_activity_at DESC, thread_id DESC LIMIT @count`;
  return {
    own: moved('(user_id = @userId OR published = 1)'),
    ownAccount: moved('(user_id = @userId OR published = 1) AND account_id = @accountId'),
    published: moved('published = 1'),
    publishedAccount: moved('published = 1 AND account_id = @accountId'),
  };
}

/** Every query of a walk, for the test that reads their plans. */
export function walkQueries(): string[] {
  return [...Object.values(pageQueries()), ...Object.values(moveQueries())];
}

function prepareEach<Parameters, Row>(database: Database, queries: Record<ListingKind, string>) {
  const prepare = (kind: ListingKind) => database.prepare<[Parameters], Row>(queries[kind]).raw();
  return {
    own: prepare('own'),
    ownAccount: prepare('ownAccount'),
    published: prepare('published'),
    publishedAccount: prepare('publishedAccount'),
  };
}

/** One row more than asked for tells whether another page follows. */
function walkParameters(
  organizationId: OrganizationId,
  { userId, accountId }: Listing,
  { activityAt, id }: Position,
  lastSequence: number,
  limit: number,
): WalkParameters {
  return {
    organizationId,
    userId,
    accountId: accountId ?? null,
    activityAt,
    id,
    lastSequence,
    count: limit + 1,
  };
}

function cut(rows: ListedThread[], limit: number): ThreadPage {
  return { rows: rows.slice(0, limit), more: rows.length > limit };
}

function byPosition(a: ListedThread, b: ListedThread): number {
  return (
    b.position.activityAt - a.position.activityAt ||
    (a.position.id < b.position.id ? 1 : a.position.id > b.position.id ? -1 : 0)
  );
}
