import type { Position } from '../../../src/domain/cursor.ts';
import type { OrganizationId } from '../../../src/domain/id.ts';
import { byPosition, cut, isExpired, readStart, writeStart } from '../../../src/storage/port/listings.ts';
import type { ListedThread, Listing, Walks } from '../../../src/storage/port/store.ts';
import type { Sync } from './sync.ts';
import type { Tables, ThreadRow } from './tables.ts';
import { toThread } from './threads.ts';

export function memoryWalks(tables: Tables): Sync<Walks> {
  function visible(organizationId: OrganizationId, listing: Listing): ThreadRow[] {
    const listed = [...(tables.organizations.get(organizationId)?.listed ?? [])];
    return listed.filter((thread) => isVisible(listing, thread));
  }

  return {
    beginWalk(organizationId, listing, limit) {
      const rows = visible(organizationId, listing).map((thread) => listedAt(thread, thread.activityAt));
      const { lastSequence, lastMove } = tables;
      const start = writeStart({ lastSequence, lastMove, at: tables.clock.peek() });
      return { ...cut(takeFirst(rows, limit), limit), start, size: rows.length };
    },

    continueWalk(organizationId, listing, limit, { start: written, after }) {
      const start = readStart(written);
      if (isExpired(start, tables.clock.peek())) return 'expired';
      const rows = visible(organizationId, listing)
        .filter(({ sequence }) => sequence <= start.lastSequence)
        .map((thread) => listedAt(thread, activityAtStart(thread, start.lastMove)))
        .filter(({ position }) => isAfter(position, after));
      return cut(takeFirst(rows, limit), limit);
    },
  };
}

function isVisible({ userId, ownOnly, accountId }: Listing, thread: ThreadRow): boolean {
  if (accountId !== undefined && thread.accountId !== accountId) return false;
  return thread.userId === userId || (thread.published && !ownOnly);
}

/** Its position before the first move since the start of the walk. */
function activityAtStart({ moves, activityAt }: ThreadRow, lastMove: number): number {
  return moves.find(({ sequence }) => sequence > lastMove)?.leftActivityAt ?? activityAt;
}

function listedAt(thread: ThreadRow, activityAt: number): ListedThread {
  return { thread: toThread(thread), position: { activityAt, id: thread.id } };
}

/** One more than the page has, to see whether another page follows. */
function takeFirst(rows: ListedThread[], limit: number): ListedThread[] {
  return rows.sort(byPosition).slice(0, limit + 1);
}

function isAfter(position: Position, after: Position): boolean {
  if (position.activityAt !== after.activityAt) return position.activityAt < after.activityAt;
  return position.id < after.id;
}
