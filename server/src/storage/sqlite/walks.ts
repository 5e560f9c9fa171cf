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
}

type MovedRow = [...ThreadRow, leftActivityAt: number];

/** Before the first row of any listing. */
const top = { activityAt: Number.MAX_SAFE_INTEGER, id: '' as ThreadId };

/**
 * A walk's start is the number of the last thread and of the last rename then. Later threads are left out by the one;
 * by the other, threads renamed since are found at the position they left. Both count commits, so no clock is trusted.
 */
export function sqliteWalks(database: Database): Pick<Threads, 'beginWalk' | 'continueWalk'> {
  const sizes = sqliteListingSizes(database);
  const lastThread = database.prepare<[], number | null>('SELECT max(sequence) FROM thread').pluck();
  const lastMove = database.prepare<[], number | null>('SELECT max(sequence) FROM thread_move').pluck();
  const pages = prepareEach<WalkParameters, ThreadRow>(database, pageQueries());
  const moves = prepareEach<MoveParameters, MovedRow>(database, moveQueries());

  function page(parameters: WalkParameters): ListedThread[] {
    return pages[listingKind(parameters)].all(parameters).map((row) => {
      const thread = toThread(row);
      return { thread, position: { activityAt: thread.updatedAt ?? thread.createdAt, id: thread.id } };
    });
  }

  /** Threads renamed since the walk's start, at the position they had then. */
  function moved(parameters: MoveParameters): ListedThread[] {
    return moves[listingKind(parameters)].all(parameters).map((row) => ({
      thread: toThread(row),
      position: { activityAt: row[threadColumnCount], id: row[1] },
    }));
  }

  const begin = database.transaction((organizationId: OrganizationId, listing: Listing, limit: number) => {
    const lastSequence = lastThread.get() ?? 0;
    const rows = page(walkParameters(organizationId, listing, top, lastSequence, limit));
    const start = `${lastSequence}.${lastMove.get() ?? 0}`;
    return { ...cut(rows, limit), start, size: sizes.of(organizationId, listing) };
  });

  const proceed = database.transaction(
    (organizationId: OrganizationId, listing: Listing, limit: number, start: string, after: Position) => {
      const [lastSequence = 0, lastMove = 0] = start.split('.').map(Number);
      const parameters = walkParameters(organizationId, listing, after, lastSequence, limit);
      const rows = page(parameters);
      const movedRows = moved({ ...parameters, lastMove });
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

/** The first move of each thread after the walk's start holds the position it had at the start. */
function moveQueries(): Record<ListingKind, string> {
  const moved = (visible: string) =>
    `SELECT ${threadColumns}, left_activity_at FROM (
       SELECT thread_sequence, left_activity_at, min(sequence) FROM thread_move
       WHERE organization_id = @organizationId AND sequence > @lastMove GROUP BY thread_sequence) AS moved
     CROSS JOIN thread ON thread.sequence = thread_sequence
     WHERE ${visible} AND deleted = 0
       AND (left_activity_at, thread.id) < (@activityAt, @id) AND thread.sequence <= @lastSequence
     ORDER BY left_activity_at DESC, thread.id DESC LIMIT @count`;
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
