import type { ClockReading } from '../clock-jumps.ts';
import type { Database } from './database.ts';
import type { DiskGuard } from './disk-guard.ts';

/** The store's time within one commit. It never runs backwards, whatever the machine's clock and other processes do. */
export interface CommitClock {
  /** Not before anything committed so far. */
  now(): number;
  /**
   * After everything that earlier commits dated, so that it stands above it in a listing even within one millisecond;
   * and after `time`, which may be of the same commit.
   */
  after(time?: number): number;
}

/** The machine's clocks, in milliseconds. */
export interface MachineClock {
  /** May be set forward and back at any time. */
  wall(): number;
  /** Only ever runs on; from where does not matter. */
  steady(): number;
}

export const machineClock: MachineClock = { wall: Date.now, steady: () => performance.now() };

interface Write {
  readonly durable: boolean;
  readonly run: (clock: CommitClock) => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Writes that arrive in one turn of the event loop commit together: durability costs one sync per batch, not per
 * request. While a sync blocks the loop the next requests pile up in their sockets, so batches grow with the load.
 */
export class CommitQueue {
  readonly #database: Database;
  readonly #machineClock: MachineClock;
  readonly #guard: DiskGuard | undefined;
  readonly #statements;
  #waiting: Write[] = [];
  /** The latest committed time that was seen here, and when: a process that only reads must not count from its own past. */
  #seen: { committed: number; steadyMs: number };

  constructor(database: Database, machineClock: MachineClock, guard?: DiskGuard) {
    this.#database = database;
    this.#machineClock = machineClock;
    this.#guard = guard;
    this.#seen = { committed: 0, steadyMs: machineClock.steady() };
    this.#statements = {
      begin: database.prepare('BEGIN IMMEDIATE'),
      commit: database.prepare('COMMIT'),
      rollback: database.prepare('ROLLBACK'),
      savepoint: database.prepare('SAVEPOINT one_write'),
      release: database.prepare('RELEASE one_write'),
      undo: database.prepare('ROLLBACK TO one_write'),
      latestTime: database.prepare<[], number>('SELECT latest_at FROM store_clock').pluck(),
      keepLatestTime: database.prepare<[number]>('UPDATE store_clock SET latest_at = ?'),
    };
  }

  /** Runs `write` inside the next commit and resolves when that is on the disk. */
  durable<T>(write: (clock: CommitClock) => T): Promise<T> {
    return this.#enqueue(true, write);
  }

  /** Runs `write` inside the next commit; alone, it is not synced: a killed process keeps it, a power cut may not. */
  unsynced<T>(write: (clock: CommitClock) => T): Promise<T> {
    return this.#enqueue(false, write);
  }

  /** The store's time for a read: not before anything committed so far. */
  now(): number {
    return this.#nextTime(this.#committedTime());
  }

  read(): ClockReading {
    const steadyMs = this.#machineClock.steady();
    return { time: this.now(), beforeMs: steadyMs, afterMs: steadyMs };
  }

  /** How far the store's time is ahead of the machine's clock. */
  aheadMs(): number {
    return Math.max(0, this.#committedTime() - this.#machineClock.wall());
  }

  /** Commits what waits now, without waiting for the turn to end. */
  flush(): void {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    const settle = this.#commit(batch);
    for (const done of settle) done();
  }

  #enqueue<T>(durable: boolean, run: (clock: CommitClock) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ durable, run, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.flush());
    });
  }

  /** What to tell each caller, once the whole batch is on the disk, or is not. */
  #commit(batch: readonly Write[]): Array<() => void> {
    const statements = this.#statements;
    const durable = batch.some((write) => write.durable);
    try {
      this.#guard?.beforeCommit();
      // Outside the transaction, where it takes effect; and not as a prepared statement, which would change nothing when run.
      if (durable) this.#database.pragma('synchronous = FULL');
      statements.begin.run();
      const clock = new StoreClock(
        () => this.#committedTime(),
        (committed) => this.#nextTime(committed),
      );
      const settle =
        batch.length === 1
          ? [runAlone(batch[0] as Write, clock)]
          : batch.map((write) => this.#runApart(write, clock));
      if (clock.latest !== undefined) statements.keepLatestTime.run(clock.latest);
      statements.commit.run();
      if (clock.latest !== undefined) this.#see(clock.latest);
      this.#guard?.committed(durable);
      return settle;
    } catch (error) {
      this.#guard?.failed(error as Error);
      if (this.#database.inTransaction) tryTo(() => statements.rollback.run());
      return batch.map(
        ({ reject }) =>
          () =>
            reject(error),
      );
    } finally {
      if (durable) tryTo(() => this.#database.pragma('synchronous = NORMAL'));
    }
  }

  #committedTime(): number {
    return this.#statements.latestTime.get() ?? 0;
  }

  /**
   * The wall's time. Where that has been set back, every commit is at least one tick after the last (ids no longer tell
   * which came first), and the store's time goes at half its pace until the wall has caught up: leases and deadlines
   * still run out, and the two clocks meet again.
   */
  #nextTime(committed: number): number {
    const wall = this.#machineClock.wall();
    if (wall >= committed) return wall;
    this.#see(committed);
    const sinceMs = this.#machineClock.steady() - this.#seen.steadyMs;
    return committed + Math.max(1, Math.floor(sinceMs / 2));
  }

  #see(committed: number): void {
    if (committed === this.#seen.committed) return;
    this.#seen = { committed, steadyMs: this.#machineClock.steady() };
  }

  /** A write that fails takes back its own part and leaves the others of its batch alone. */
  #runApart(write: Write, clock: CommitClock): () => void {
    const { savepoint, release, undo } = this.#statements;
    savepoint.run();
    try {
      const settle = runAlone(write, clock);
      release.run();
      return settle;
    } catch (error) {
      // The database itself gave up on the transaction (disk full, I/O error): the whole batch has failed.
      if (!this.#database.inTransaction) throw error;
      undo.run();
      release.run();
      return () => write.reject(error);
    }
  }
}

/** Asks for the time only when a write does: counting a request against its quota needs none. */
class StoreClock implements CommitClock {
  readonly #readCommitted: () => number;
  readonly #nextTime: (committed: number) => number;
  #committed = 0;
  latest: number | undefined;

  constructor(readCommitted: () => number, nextTime: (committed: number) => number) {
    this.#readCommitted = readCommitted;
    this.#nextTime = nextTime;
  }

  now(): number {
    if (this.latest === undefined) {
      this.#committed = this.#readCommitted();
      this.latest = this.#nextTime(this.#committed);
    }
    return this.latest;
  }

  after(time = 0): number {
    // One tick per commit at most: the clock runs ahead of the wall only while a thousand commits a second last.
    this.latest = Math.max(this.now(), this.#committed + 1, time + 1);
    return this.latest;
  }
}

function runAlone(write: Write, clock: CommitClock): () => void {
  const value = write.run(clock);
  return () => write.resolve(value as never);
}

/** On a broken disk even this may fail. The callers hear of the first failure, and the next commit starts over. */
function tryTo(act: () => unknown): void {
  try {
    act();
  } catch {}
}
