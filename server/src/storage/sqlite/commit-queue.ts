import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from './database.ts';
import type { DiskGuard } from './disk-guard.ts';
import { WriteLock } from './locks.ts';
import { type CommitClock, type MachineClock, StoreTime } from './store-time.ts';

/** What a store method reads or changes: one thread of an organization, or anything of the organization. */
export interface Scope {
  readonly organizationId: string;
  readonly threadId?: string | undefined;
}

interface Write {
  /** Undefined: the whole store. */
  readonly scope: Scope | undefined;
  readonly run: (clock: CommitClock) => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
  /** Resolves or rejects the promise of the caller. Set when the write has run. */
  settle?: () => void;
}

/** Commits whose durable writes share a sync. */
interface SyncGroup {
  readonly writes: Write[];
  /** What they may have changed, by `listNames` of their scopes. */
  readonly changed: Set<string>;
  readonly synced: PromiseWithResolvers<void>;
}

/** A commit takes no further durable write after this time, so that other requests are answered in between. */
const commitMs = 2;
/** A sync does not wait for more commits than this. */
const commitsPerSync = 8;
/** Fewer durable writes than this wait for the end of a running sync: a commit costs as much as one of them. */
const gatheredMin = 8;
/** How many durable writes are settled in one turn of the event loop. */
const settledPerTurn = 8;
const lockRetryMs = 10;

interface CommitWatch {
  readonly guard?: DiskGuard;
  committed?(queue: CommitQueue): void;
  /** The disk did not confirm a commit. What it holds is unknown, so the process must end. */
  syncFailed?(error: Error): void;
}

/**
 * Commits the writes of one turn of the event loop together. Durable writes are settled when a sync that started after
 * their commit has ended. One sync runs at a time, outside the event loop; durable writes that arrive meanwhile are gathered
 * and share the next one, so batches grow with the load. Many are committed and settled in several turns, which lets other
 * requests in.
 */
export class CommitQueue {
  readonly #database: Database;
  readonly #steady: () => number;
  /** Syncs the journal to the disk without blocking the event loop. */
  readonly #sync: () => Promise<void>;
  readonly #watch: CommitWatch;
  readonly #lock: WriteLock;
  readonly #time: StoreTime;
  readonly #endCommit;
  readonly #durable: Write[] = [];
  /** Writes that do not wait for a sync. */
  readonly #others: Write[] = [];
  #isScheduled = false;
  #isHeld = false;
  /** Committed, and waiting for the next sync. */
  #unsynced: SyncGroup | undefined;
  /** Committed, and being synced. */
  #syncing: SyncGroup | undefined;
  #commitsSinceSync = 0;
  #syncFailure: Error | undefined;
  #scope: Scope | undefined;

  constructor(database: Database, clock: MachineClock, sync: () => Promise<void>, watch: CommitWatch = {}) {
    this.#database = database;
    this.#steady = clock.steady;
    this.#sync = sync;
    this.#watch = watch;
    this.#lock = new WriteLock(database, clock.steady);
    this.#time = new StoreTime(database, clock);
    this.#endCommit = database.prepare('COMMIT');
  }

  /** Runs `write` in a commit, again if the first run was rolled back, and resolves when the commit is on the disk. */
  durable<T>(write: (clock: CommitClock) => T): Promise<T> {
    return this.#enqueue(this.#durable, write);
  }

  /** Like `durable`, but without waiting for the disk: it survives a killed process, and maybe not a power cut. */
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

  /** Resolves when all that a read in this scope may have seen is on the disk; undefined if it is already. */
  whenSynced(scope: Scope): Promise<void> | undefined {
    if (this.#syncFailure !== undefined) return Promise.reject(this.#syncFailure);
    // If both have changes that the read may have seen, the later sync ends last.
    if (this.#unsynced && maySee(this.#unsynced.changed, scope)) return this.#unsynced.synced.promise;
    if (this.#syncing && maySee(this.#syncing.changed, scope)) return this.#syncing.synced.promise;
    return undefined;
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
    while (this.#isWaiting || this.#unsynced !== undefined || this.#syncing !== undefined) {
      if (this.#syncing !== undefined) await this.#syncing.synced.promise.catch(() => {});
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

  get #mayCommitDurable(): boolean {
    return this.#syncing === undefined || this.#durable.length >= gatheredMin;
  }

  #enqueue<T>(queue: Write[], run: (clock: CommitClock) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      queue.push({ scope: this.#scope, run, resolve, reject });
      if (queue === this.#others || this.#mayCommitDurable) this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Settled before durable writes run: the quota count of a read does not wait for them.
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
      if (this.#lock.begin()) this.#database.exec('ROLLBACK');
    } catch (error) {
      if (!this.#lock.isTaken) throw error;
    }
    if (this.#lock.isTaken) this.#retryLater();
  }

  /** Other writes go first. Durable writes may have to wait: see `commitMs` and `gatheredMin`. */
  #commitReady(): void {
    this.#commit(this.#others);
    if (this.#mayCommitDurable) this.#commit(this.#durable);
    const { isTaken } = this.#lock;
    if (isTaken || this.#others.length > 0) this.#retryLater();
    else if (this.#durable.length > 0 && this.#mayCommitDurable) this.#schedule();
    const next = this.#unsynced;
    if (next === undefined || this.#syncing !== undefined) return;
    const waiting = isTaken ? 0 : this.#durable.length;
    // It waits for a few, but not for those that will be committed while it runs.
    if (waiting === 0 || waiting >= gatheredMin || this.#commitsSinceSync >= commitsPerSync)
      void this.#syncThenSettle(next);
  }

  /** Takes writes from the queue. Those that have to wait for the next commit stay in it. */
  #commit(queue: Write[]): void {
    if (queue.length === 0) return;
    const isDurable = queue === this.#durable;
    let done: number;
    try {
      if (isDurable && this.#syncFailure !== undefined) throw this.#syncFailure;
      this.#watch.guard?.beforeCommit();
      done = this.#tryAll(queue, runWrite) ?? this.#tryAll(queue, this.#runInSavepoint)!;
    } catch (error) {
      this.#watch.guard?.failed(error as Error);
      try {
        if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      } catch {
        // The disk may be broken. The callers get the first error, and the next commit starts over.
      }
      for (const { reject } of queue.splice(0)) reject(error);
      return;
    }
    if (done === 0) return;
    const committed = queue.splice(0, done);
    if (isDurable) this.#addToGroup(committed);
    else {
      this.#watch.guard?.committed(false);
      for (const write of committed) write.settle!();
    }
    this.#watch.committed?.(this);
  }

  /**
   * Commits the writes and returns how many: none while it waits for the lock. May leave durable writes for the next
   * commit. Returns undefined if one of several writes failed, which is rare: everything is rolled back, and all run again
   * in savepoints. A savepoint costs half as much as a create, because SQLite copies every page that the write changes.
   */
  #tryAll(batch: readonly Write[], run: typeof runWrite): number | undefined {
    const startedMs = this.#steady();
    if (!this.#lock.begin()) return 0;
    this.#time.startCommit();
    let done = 0;
    for (const write of batch) {
      if (batch === this.#durable && done > 0 && this.#steady() - startedMs >= commitMs) break;
      try {
        run(write, this.#time);
        done += 1;
      } catch (error) {
        // SQLite rolled back the whole transaction (disk full, I/O error): the whole batch has failed.
        if (batch.length === 1 || !this.#database.inTransaction) throw error;
        this.#database.exec('ROLLBACK');
        return undefined;
      }
    }
    this.#time.keep();
    this.#endCommit.run();
    this.#time.committed();
    return done;
  }

  #addToGroup(writes: readonly Write[]): void {
    this.#unsynced ??= { writes: [], changed: new Set(), synced: Promise.withResolvers() };
    for (const { scope } of writes) for (const name of listNames(scope)) this.#unsynced.changed.add(name);
    this.#unsynced.writes.push(...writes);
    this.#commitsSinceSync += 1;
  }

  /**
   * If the sync fails, every later durable write fails: the system reports a lost page only once, so a second sync could
   * succeed although the page is not on the disk.
   */
  async #syncThenSettle(group: SyncGroup): Promise<void> {
    this.#unsynced = undefined;
    this.#syncing = group;
    try {
      await this.#sync();
    } catch (error) {
      this.#syncFailure = error as Error;
      failGroup(group, error);
      if (this.#unsynced) failGroup(this.#unsynced, error);
      this.#unsynced = undefined;
      this.#watch.syncFailed?.(error as Error);
      return;
    } finally {
      this.#syncing = undefined;
      this.#commitsSinceSync = 0;
      this.#schedule();
    }
    try {
      this.#watch.guard?.committed(true);
      settleInTurns(group.writes);
    } catch (error) {
      for (const write of group.writes) write.reject(error);
    }
    group.synced.resolve();
  }

  /** Rolls back a write that fails, without the other writes of its batch. */
  readonly #runInSavepoint = (write: Write, clock: CommitClock): void => {
    this.#database.exec('SAVEPOINT one_write');
    try {
      runWrite(write, clock);
    } catch (error) {
      if (!this.#database.inTransaction) throw error;
      this.#database.exec('ROLLBACK TO one_write');
      write.settle = () => write.reject(error);
    }
    this.#database.exec('RELEASE one_write');
  };
}

function runWrite(write: Write, clock: CommitClock): void {
  const value = write.run(clock);
  write.settle = () => write.resolve(value as never);
}

function failGroup({ writes, synced }: SyncGroup, error: unknown): void {
  for (const write of writes) write.reject(error);
  // Nobody may be waiting for it.
  synced.promise.catch(() => {});
  synced.reject(error);
}

function settleInTurns(writes: readonly Write[]): void {
  for (const write of writes.slice(0, settledPerTurn)) write.settle!();
  if (writes.length > settledPerTurn) setImmediate(settleInTurns, writes.slice(settledPerTurn));
}

const everything = 'everything';
const nameAll = (organizationId: string) => `all of ${organizationId}`;

/** Names for what a write may have changed. */
function listNames(scope: Scope | undefined): string[] {
  if (scope === undefined) return [everything];
  return [scope.organizationId, scope.threadId ?? nameAll(scope.organizationId)];
}

/** Whether a read in this scope may see one of the changes. */
function maySee(changed: ReadonlySet<string>, { organizationId, threadId }: Scope): boolean {
  if (changed.has(everything)) return true;
  if (threadId === undefined) return changed.has(organizationId);
  return changed.has(threadId) || changed.has(nameAll(organizationId));
}
