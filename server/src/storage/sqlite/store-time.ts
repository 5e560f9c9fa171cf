import type { Database } from './database.ts';

/** The store's time within one commit. It never runs backwards, whatever happens to the machine's clock. */
export interface CommitClock {
  /** Not earlier than anything committed so far. */
  now(): number;
  /**
   * Later than every time in earlier commits, so that the row comes first in a listing even within one millisecond, and
   * later than `time`, which may be of the same commit.
   */
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

/** The store's time: the machine's, but never earlier than what was committed. The database keeps the latest one. */
export class StoreTime {
  readonly #machine: MachineClock;
  readonly #statements;
  /** The latest committed time that this process has seen, and when it saw it on the steady clock. */
  #seen: { committed: number; steadyMs: number };

  constructor(database: Database, machine: MachineClock) {
    this.#machine = machine;
    this.#seen = { committed: 0, steadyMs: machine.steady() };
    this.#statements = {
      latest: database.prepare<[], number>('SELECT latest_at FROM store_clock').pluck(),
      keepLatest: database.prepare<[number]>('UPDATE store_clock SET latest_at = ?'),
    };
  }

  now(): number {
    return this.next(this.committed());
  }

  aheadMs(): number {
    return Math.max(0, this.committed() - this.#machine.wall());
  }

  committed(): number {
    return this.#statements.latest.get() ?? 0;
  }

  /**
   * The wall clock's time. After that clock was set back, every commit is at least one millisecond after the last, because
   * ids no longer give the order, and the store's time runs at half speed until the wall clock has caught up: leases and
   * deadlines still end, and the two clocks meet again.
   */
  next(committed: number): number {
    const wall = this.#machine.wall();
    if (wall >= committed) return wall;
    this.#see(committed);
    const sinceMs = this.#machine.steady() - this.#seen.steadyMs;
    return committed + Math.max(1, Math.floor(sinceMs / 2));
  }

  startCommit(): OneCommitClock {
    return new OneCommitClock(this);
  }

  /** Stores the latest time of a commit, as a part of it. */
  keep({ latest }: OneCommitClock): void {
    if (latest !== undefined) this.#statements.keepLatest.run(latest);
  }

  /** Call it after the commit. */
  see({ latest }: OneCommitClock): void {
    if (latest !== undefined) this.#see(latest);
  }

  #see(committed: number): void {
    if (committed === this.#seen.committed) return;
    this.#seen = { committed, steadyMs: this.#machine.steady() };
  }
}

/** Reads the time only when a write needs it: counting a request against its quota does not. */
class OneCommitClock implements CommitClock {
  readonly #time: StoreTime;
  #committed = 0;
  latest: number | undefined;

  constructor(time: StoreTime) {
    this.#time = time;
  }

  now(): number {
    if (this.latest === undefined) {
      this.#committed = this.#time.committed();
      this.latest = this.#time.next(this.#committed);
    }
    return this.latest;
  }

  after(time = 0): number {
    // At most one millisecond per commit: the clock is ahead of the wall clock only while there are 1,000 commits a second.
    this.latest = Math.max(this.now(), this.#committed + 1, time + 1);
    return this.latest;
  }
}
