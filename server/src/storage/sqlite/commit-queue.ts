import type { ClockReading } from '../clock-jumps.ts';
import type { Database } from './database.ts';
import type { DiskGuard } from './disk-guard.ts';

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

interface Write {
  readonly durable: boolean;
  readonly run: (clock: CommitClock) => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
}

/** A disk that stalls for longer must not delay the next commit as long again. */
const pauseMsMax = 20;

/**
 * Writes that arrive in one turn of the event loop are committed together: durability costs one sync per batch, not per
 * request. While a sync blocks the loop the next requests queue in their sockets, so batches grow with the load.
 *
 * After a slow sync, durable writes gather for as long as it took, so that syncs block the loop for half of the time at
 * most. A durable write that comes later than that is committed at once.
 */
export class CommitQueue {
  readonly #database: Database;
  readonly #machineClock: MachineClock;
  readonly #guard: DiskGuard | undefined;
  readonly #statements;
  #waiting: Write[] = [];
  /** Durable writes that wait for the end of the pause after a sync. */
  #gathered: Write[] = [];
  /** On the steady clock. */
  #pausedUntilMs = 0;
  /** Whether commits wait for the disk. They do not on a connection that `openDatabase` has just opened. */
  #isSynced = false;
  /** The latest committed time that this process has seen, and when it saw it on the steady clock. */
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

  /** Runs `write` in the next commit and resolves when the commit is on the disk. */
  durable<T>(write: (clock: CommitClock) => T): Promise<T> {
    return this.#enqueue(true, write);
  }

  /** Runs `write` in the next commit, without a sync of its own: it survives a killed process, but maybe not a power cut. */
  unsynced<T>(write: (clock: CommitClock) => T): Promise<T> {
    return this.#enqueue(false, write);
  }

  /** The store's time for a read: not earlier than anything committed so far. */
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

  /** Commits the waiting writes now, without waiting for the end of the turn or of the pause. */
  flush(): void {
    this.#commitAll([...this.#gathered.splice(0), ...this.#waiting.splice(0)]);
  }

  #enqueue<T>(durable: boolean, run: (clock: CommitClock) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ durable, run, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#endTurn());
    });
  }

  #endTurn(): void {
    const pauseMs = this.#pausedUntilMs - this.#machineClock.steady();
    // A timer takes a millisecond or more.
    if (pauseMs < 1) this.flush();
    else this.#gather(pauseMs);
  }

  #gather(pauseMs: number): void {
    const writes = this.#waiting.splice(0);
    const durable = writes.filter((write) => write.durable);
    if (durable.length > 0 && this.#gathered.length === 0) setTimeout(() => this.flush(), pauseMs);
    this.#gathered.push(...durable);
    this.#commitAll(writes.filter((write) => !write.durable));
  }

  #commitAll(batch: readonly Write[]): void {
    if (batch.length === 0) return;
    for (const settle of this.#commit(batch)) settle();
  }

  /** Returns the functions that answer the callers, once the whole batch is on the disk or has failed. */
  #commit(batch: readonly Write[]): Array<() => void> {
    const statements = this.#statements;
    const durable = batch.some((write) => write.durable);
    try {
      this.#guard?.beforeCommit();
      this.#setSync(durable);
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
      const beganMs = this.#machineClock.steady();
      statements.commit.run();
      if (durable) this.#pause(beganMs);
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
    }
  }

  #pause(syncBeganMs: number): void {
    const now = this.#machineClock.steady();
    this.#pausedUntilMs = now + Math.min(now - syncBeganMs, pauseMsMax);
  }

  /** The pragma takes effect only outside a transaction, and has no effect as a prepared statement. */
  #setSync(durable: boolean): void {
    if (durable === this.#isSynced) return;
    this.#database.exec(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
    this.#isSynced = durable;
  }

  #committedTime(): number {
    return this.#statements.latestTime.get() ?? 0;
  }

  /**
   * The wall clock's time. After that clock was set back, every commit is at least one millisecond after the last, because
   * ids no longer give the order, and the store's time runs at half speed until the wall clock has caught up: leases and
   * deadlines still end, and the two clocks meet again.
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

  /** Rolls back a write that fails, without the other writes of its batch. */
  #runApart(write: Write, clock: CommitClock): () => void {
    const { savepoint, release, undo } = this.#statements;
    savepoint.run();
    try {
      const settle = runAlone(write, clock);
      release.run();
      return settle;
    } catch (error) {
      // SQLite rolled back the whole transaction (disk full, I/O error): the whole batch has failed.
      if (!this.#database.inTransaction) throw error;
      undo.run();
      release.run();
      return () => write.reject(error);
    }
  }
}

/** Reads the time only when a write needs it: counting a request against its quota does not. */
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
    // At most one millisecond per commit: the clock is ahead of the wall clock only while there are 1,000 commits a second.
    this.latest = Math.max(this.now(), this.#committed + 1, time + 1);
    return this.latest;
  }
}

function runAlone(write: Write, clock: CommitClock): () => void {
  const value = write.run(clock);
  return () => write.resolve(value as never);
}

/** May fail on a broken disk. The callers get the first error, and the next commit starts afresh. */
function tryTo(act: () => unknown): void {
  try {
    act();
  } catch {}
}
