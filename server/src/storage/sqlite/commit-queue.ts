import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from './database.ts';
import type { DiskGuard } from './disk-guard.ts';
import { LockIsTaken, WriteLock } from './locks.ts';
import { type CommitClock, type MachineClock, StoreTime } from './store-time.ts';
import { type Scope, Scopes } from './synced-reads.ts';

interface Write {
  readonly scope: Scope | undefined;
  readonly run: (clock: CommitClock) => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
}

/** Commits whose durable writes share a sync. */
interface SyncGroup {
  readonly scopes: Scopes;
  readonly writes: Write[];
  /** Answer the writes. */
  readonly answers: (() => void)[];
  readonly synced: PromiseWithResolvers<void>;
  commits: number;
  isSyncing: boolean;
}

/** A commit takes no further durable write after this time, so that other requests are answered in between. */
const commitMs = 2;
/** A sync does not wait for more commits than this. */
const commitsPerSync = 8;
/** How many durable writes are answered in one turn of the event loop. */
const answersPerTurn = 8;

const lockRetryMs = 10;

/** Syncs the journal to the disk without blocking the event loop. */
export type Sync = () => Promise<void>;

interface CommitWatch {
  readonly guard?: DiskGuard;
  /** Is called after every commit. */
  committed?(queue: CommitQueue): void;
  /** The disk did not confirm a commit. What it holds is unknown, so the process must end. */
  syncFailed?(error: Error): void;
}

/**
 * Writes that arrive in one turn of the event loop are committed together. Durable writes are answered when a sync that
 * started after their commit has ended. One sync runs at a time, outside the event loop. Durable writes that arrive
 * meanwhile wait and share the next sync, so batches grow with the load; other writes are committed at once.
 *
 * Many durable writes are committed and answered in several turns: other requests never wait for all of them.
 */
export class CommitQueue {
  readonly #database: Database;
  readonly #machineClock: MachineClock;
  readonly #sync: Sync;
  readonly #watch: CommitWatch;
  readonly #lock: WriteLock;
  readonly #time: StoreTime;
  readonly #statements;
  readonly #durable: Write[] = [];
  /** Writes that do not wait for a sync. */
  readonly #others: Write[] = [];
  #isScheduled = false;
  #isHeld = false;
  /** Committed, but not synced yet. */
  #unsynced: SyncGroup | undefined;
  #syncFailure: Error | undefined;
  #scope: Scope | undefined;

  constructor(database: Database, machineClock: MachineClock, sync: Sync, watch: CommitWatch = {}) {
    this.#database = database;
    this.#machineClock = machineClock;
    this.#sync = sync;
    this.#watch = watch;
    this.#lock = new WriteLock(database, machineClock.steady);
    this.#time = new StoreTime(database, machineClock);
    this.#statements = {
      commit: database.prepare('COMMIT'),
      rollback: database.prepare('ROLLBACK'),
      savepoint: database.prepare('SAVEPOINT one_write'),
      release: database.prepare('RELEASE one_write'),
      undo: database.prepare('ROLLBACK TO one_write'),
    };
  }

  /** Runs `write` in a commit, again if the first run was rolled back, and resolves when the commit is on the disk. */
  durable<T>(write: (clock: CommitClock) => T): Promise<T> {
    return this.#enqueue(this.#durable, write);
  }

  /**
   * Runs `write` in the next commit, again if the first run was rolled back, and does not wait for a sync: it survives a
   * killed process, but maybe not a power cut.
   */
  unsynced<T>(write: (clock: CommitClock) => T): Promise<T> {
    return this.#enqueue(this.#others, write);
  }

  /** Durable writes that `act` enqueues before it first awaits something change nothing outside `scope`. */
  inScope<T>(scope: Scope, act: () => T): T {
    this.#scope = scope;
    try {
      return act();
    } finally {
      this.#scope = undefined;
    }
  }

  /** Resolves when everything that a read in this scope may have seen is on the disk; undefined if it is already. */
  whenSynced(scope: Scope): Promise<void> | undefined {
    if (this.#syncFailure !== undefined) return Promise.reject(this.#syncFailure);
    return this.#unsynced?.scopes.has(scope) ? this.#unsynced.synced.promise : undefined;
  }

  /** Commits nothing while `act` runs. */
  async hold(act: () => Promise<unknown>): Promise<void> {
    this.#isHeld = true;
    try {
      await act();
    } finally {
      this.#isHeld = false;
      this.#schedule();
    }
  }

  /** Commits and syncs the waiting writes. */
  async drain(): Promise<void> {
    while (this.#isWaiting || this.#unsynced !== undefined) {
      if (this.#unsynced?.isSyncing) await this.#unsynced.synced.promise.catch(() => {});
      else if (this.#lock.isTaken && this.#isScheduled) await pause(lockRetryMs);
      else this.#commitReady();
    }
  }

  /** Throws if another process has held the write lock for more than a second. */
  assertWritable(): void {
    if (!this.#isWaiting) this.#tryLock();
    this.#lock.assertFree();
  }

  /** The store's time for a read: not earlier than anything committed so far. */
  now(): number {
    return this.#time.nowOutsideCommit();
  }

  /** How far the store's time is ahead of the machine's clock. */
  aheadMs(): number {
    return this.#time.aheadMs();
  }

  get #isWaiting(): boolean {
    return this.#durable.length + this.#others.length > 0;
  }

  #enqueue<T>(queue: Write[], run: (clock: CommitClock) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      queue.push({ scope: this.#scope, run, resolve, reject });
      if (queue === this.#others || !this.#unsynced?.isSyncing) this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Answered before durable writes run: the quota count of a read does not wait for them.
    setImmediate(() => {
      if (!this.#isHeld) this.#commit(this.#others);
    });
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isHeld) this.#commitReady();
    });
  }

  /** Writes that arrive meanwhile wait, too. If nothing waits, it still finds out when the lock is free. */
  #retryLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      if (!this.#database.open || this.#isHeld) return;
      if (this.#isWaiting) this.#commitReady();
      else this.#tryLock();
    }, lockRetryMs);
  }

  #tryLock(): void {
    try {
      this.#lock.begin();
      this.#statements.rollback.run();
    } catch (error) {
      if (!this.#lock.isTaken) throw error;
      this.#retryLater();
    }
  }

  /** Other writes go first. Durable writes wait while a sync runs, and beyond `commitMs`. */
  #commitReady(): void {
    this.#commit(this.#others);
    if (!this.#unsynced?.isSyncing) this.#commit(this.#durable);
    const { isTaken } = this.#lock;
    if (isTaken || this.#others.length > 0) this.#retryLater();
    const unsynced = this.#unsynced;
    if (unsynced === undefined || unsynced.isSyncing) return;
    unsynced.isSyncing = this.#durable.length === 0 || isTaken || unsynced.commits >= commitsPerSync;
    if (unsynced.isSyncing) void this.#syncThenAnswer(unsynced);
    else this.#schedule();
  }

  /** Takes writes from the queue. Those that have to wait for the next commit stay in it. */
  #commit(queue: Write[]): void {
    if (queue.length === 0) return;
    const isDurable = queue === this.#durable;
    let answers: (() => void)[];
    try {
      if (isDurable && this.#syncFailure !== undefined) throw this.#syncFailure;
      answers = this.#runAll(queue);
    } catch (error) {
      if (error instanceof LockIsTaken) return;
      this.#watch.guard?.failed(error as Error);
      try {
        if (this.#database.inTransaction) this.#statements.rollback.run();
      } catch {
        // The disk may be broken. The callers get the first error, and the next commit starts over.
      }
      for (const { reject } of queue.splice(0)) reject(error);
      return;
    }
    const committed = queue.splice(0, answers.length);
    if (isDurable) this.#answerAfterSync(committed, answers);
    else {
      this.#watch.guard?.committed(false);
      for (const answer of answers) answer();
    }
    this.#watch.committed?.(this);
  }

  /**
   * Commits the writes and returns the functions that answer them. May leave durable writes for the next commit. If one
   * of several writes fails, which is rare, all run again, each in a savepoint. A savepoint costs half as much as a create,
   * because SQLite copies every page that the write changes.
   */
  #runAll(batch: readonly Write[]): (() => void)[] {
    this.#watch.guard?.beforeCommit();
    return this.#tryAll(batch, runWrite) ?? this.#tryAll(batch, this.#runInSavepoint)!;
  }

  /** Returns undefined if one of several writes failed. Everything is rolled back then. */
  #tryAll(batch: readonly Write[], run: typeof runWrite): (() => void)[] | undefined {
    const { steady } = this.#machineClock;
    const startedMs = steady();
    this.#lock.begin();
    this.#time.startCommit();
    const answers: (() => void)[] = [];
    for (const [place, write] of batch.entries()) {
      if (batch === this.#durable && place > 0 && steady() - startedMs >= commitMs) break;
      try {
        answers.push(run(write, this.#time));
      } catch (error) {
        // SQLite rolled back the whole transaction (disk full, I/O error): the whole batch has failed.
        if (batch.length === 1 || !this.#database.inTransaction) throw error;
        this.#statements.rollback.run();
        return undefined;
      }
    }
    this.#time.keep();
    this.#statements.commit.run();
    this.#time.committed();
    return answers;
  }

  #answerAfterSync(writes: readonly Write[], answers: readonly (() => void)[]): void {
    this.#unsynced ??= {
      scopes: new Scopes(),
      writes: [],
      answers: [],
      synced: Promise.withResolvers(),
      commits: 0,
      isSyncing: false,
    };
    for (const { scope } of writes) this.#unsynced.scopes.add(scope);
    this.#unsynced.writes.push(...writes);
    this.#unsynced.answers.push(...answers);
    this.#unsynced.commits += 1;
  }

  /**
   * If the sync fails, every later durable write fails: the system reports a lost page only once, so a second sync could
   * succeed although the page is not on the disk.
   */
  async #syncThenAnswer({ writes, answers, synced }: SyncGroup): Promise<void> {
    // Nobody may be waiting for it.
    synced.promise.catch(() => {});
    try {
      await this.#sync();
    } catch (error) {
      this.#syncFailure = error as Error;
      for (const { reject } of writes) reject(error);
      synced.reject(error);
      this.#watch.syncFailed?.(error as Error);
      return;
    } finally {
      this.#unsynced = undefined;
      this.#schedule();
    }
    try {
      this.#watch.guard?.committed(true);
      answerInTurns(answers);
    } catch (error) {
      for (const { reject } of writes) reject(error);
    }
    synced.resolve();
  }

  /** Rolls back a write that fails, without the other writes of its batch. */
  readonly #runInSavepoint = (write: Write, clock: CommitClock): (() => void) => {
    const { savepoint, release, undo } = this.#statements;
    savepoint.run();
    try {
      const answer = runWrite(write, clock);
      release.run();
      return answer;
    } catch (error) {
      if (!this.#database.inTransaction) throw error;
      undo.run();
      release.run();
      return () => write.reject(error);
    }
  };
}

function answerInTurns(answers: readonly (() => void)[]): void {
  for (const answer of answers.slice(0, answersPerTurn)) answer();
  if (answers.length > answersPerTurn) setImmediate(answerInTurns, answers.slice(answersPerTurn));
}

function runWrite(write: Write, clock: CommitClock): () => void {
  const value = write.run(clock);
  return () => write.resolve(value as never);
}
