import { limits } from '../../domain/limits.ts';
import type { ListedThread, ThreadPage } from './store.ts';

/** An account as part of a key that must not be null: '' means no account. */
export function accountKey(accountId: string | null | undefined): string {
  return accountId === null || accountId === undefined ? '' : `=${accountId}`;
}

export function accountOfKey(key: string): string | null {
  return key === '' ? null : key.slice(1);
}

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

/** `rows` has one row more than the page if another page follows. */
export function cut(rows: ListedThread[], limit: number): ThreadPage {
  const more = rows.length > limit;
  return { rows: more ? rows.slice(0, limit) : rows, more };
}

export function byPosition({ position: a }: ListedThread, { position: b }: ListedThread): number {
  return b.activityAt - a.activityAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}
