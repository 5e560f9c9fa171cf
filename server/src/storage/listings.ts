import type { Position } from '../domain/cursor.ts';
import type { ThreadId } from '../domain/id.ts';
import { limits } from '../domain/limits.ts';
import type { ListedThread, Listing, ThreadPage } from './store.ts';

/** An account as part of a key that must not be null: '' means no account. */
export function accountKey(accountId: string | null | undefined): string {
  return accountId === null || accountId === undefined ? '' : `=${accountId}`;
}

export function accountOfKey(key: string): string | null {
  return key === '' ? null : key.slice(1);
}

/** `mine`: the user's own threads. `own`: the user's own and published threads. */
export const listingScopes = ['own', 'published', 'mine'] as const;
export type ListingScope = (typeof listingScopes)[number];
/** A scope, and whether only threads of one account are listed. */
export type ListingKind = `${ListingScope}${'' | 'Account'}`;

/** The start of a walk: the numbers of the last thread and the last move at that time, and the store's time. */
export interface WalkStart {
  readonly lastSequence: number;
  readonly lastMove: number;
  readonly at: number;
}

export function writeStart({ lastSequence, lastMove, at }: WalkStart): string {
  return `${lastSequence}.${lastMove}.${at}`;
}

export function readStart(start: string): WalkStart {
  const [lastSequence = 0, lastMove = 0, at = 0] = start.split('.').map(Number);
  return { lastSequence, lastMove, at };
}

/** Whether moves since the start may have been removed already. */
export function isExpired({ at }: WalkStart, now: number): boolean {
  return now - at > limits.walkMsMax.default;
}

/** After the last row of any listing. */
export const bottom: Position = { activityAt: 0, id: '' as ThreadId };

export function kindOf({ userId, ownOnly, accountId }: Listing): ListingKind {
  const scope = ownOnly ? 'mine' : userId === null ? 'published' : 'own';
  return accountId === undefined ? scope : `${scope}Account`;
}

/** `rows` has one row more than the page if another page follows. */
export function cut(rows: ListedThread[], limit: number): ThreadPage {
  const more = rows.length > limit;
  return { rows: more ? rows.slice(0, limit) : rows, more };
}

export function byPosition(a: ListedThread, b: ListedThread): number {
  return (
    b.position.activityAt - a.position.activityAt ||
    (a.position.id < b.position.id ? 1 : a.position.id > b.position.id ? -1 : 0)
  );
}
