import { sqliteStatement } from '../sql/sql.ts';
import type { Database } from './database.ts';

/** The store's time within one commit. It never runs backwards, whatever happens to the machine's clock. */
export interface CommitClock {
  /** Not earlier than anything committed so far. */
  now(): number;
  /** Later than every earlier commit, so that a row comes first even within one millisecond, and later than `time`. */
  after(time?: number): number;
}

/** The machine's clocks, in milliseconds. */
export interface MachineClock {
  /** May be set forward or back at any time. */
  wall(): number;
  /** Never set; its origin does not matter. */
  steady(): number;
}

export const machineClock: MachineClock = { wall: Date.now, steady: () => performance.now() };

export const readLatest = sqliteStatement('read-latest-time')`SELECT latest_at FROM store_clock`;
const keepLatest = sqliteStatement('keep-latest-time')`UPDATE store_clock SET latest_at = :latestAt`;

/** The store's time: the machine's, but never earlier than what was committed. The database keeps the latest one. */
export class StoreTime implements CommitClock {
  readonly #machine: MachineClock;
  readonly #readLatest;
  readonly #keepLatest;
  /** The latest committed time that this process has seen, and when it saw it on the steady clock. */
  #seen: { committed: number; steadyMs: number };
  /** Of the commit in progress: what was committed before it, and the latest time that it has been given, if any. */
  #before = 0;
  #latest: number | undefined;

  constructor(database: Database, machine: MachineClock) {
    this.#machine = machine;
    this.#seen = { committed: 0, steadyMs: machine.steady() };
    this.#readLatest = database.prepare<[], number>(readLatest.sql).pluck();
    this.#keepLatest = database.prepare<[object]>(keepLatest.sql);
  }

  /** For a read: unlike `now`, it gives out no time that a commit would have to keep. */
  nowOutsideCommit(): number {
    return this.#next(this.#latestCommitted());
  }

  aheadMs(): number {
    return Math.max(0, this.#latestCommitted() - this.#machine.wall());
  }

  startCommit(): void {
    this.#latest = undefined;
  }

  /** Reads the time only when a write needs it: counting a request against its quota does not. */
  now(): number {
    if (this.#latest === undefined) {
      this.#before = this.#latestCommitted();
      this.#latest = this.#next(this.#before);
    }
    return this.#latest;
  }

  after(time = 0): number {
    // At most one millisecond per commit: it gets ahead of the wall clock only with more than 1,000 commits a second.
    this.#latest = Math.max(this.now(), this.#before + 1, time + 1);
    return this.#latest;
  }

  /** Stores the latest time of a commit, as a part of it. */
  keep(): void {
    if (this.#latest !== undefined) this.#keepLatest.run({ latestAt: this.#latest });
  }

  committed(): void {
    if (this.#latest !== undefined) this.#see(this.#latest);
  }

  #latestCommitted(): number {
    return this.#readLatest.get() ?? 0;
  }

  /**
   * The wall clock's time. After that clock was set back, every commit is at least one millisecond after the last, because
   * ids no longer give the order, and the store's time runs at half speed until the wall clock has caught up: leases and
   * deadlines still end, and the two clocks meet again.
   */
  #next(committed: number): number {
    const wall = this.#machine.wall();
    if (wall >= committed) return wall;
    this.#see(committed);
    const sinceMs = this.#machine.steady() - this.#seen.steadyMs;
    return committed + Math.max(1, Math.floor(sinceMs / 2));
  }

  #see(committed: number): void {
    if (committed === this.#seen.committed) return;
    this.#seen = { committed, steadyMs: this.#machine.steady() };
  }
}
