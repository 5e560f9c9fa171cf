import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../domain/fair-queue.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { ModelError } from '../model.ts';
import type { PassageStore } from '../retrieval/search.ts';
import { retryStore } from '../retry-store.ts';
import type { Failure, FromThread, PassageSource, StoreCall, Task, TaskEvent, ToThread } from './messages.ts';

export interface ThreadSettings {
  readonly threads: number;
  /** A task that takes longer has hung: its thread is ended. Time in which it waits for the store does not count. */
  readonly taskMsMax?: number;
  /** How long an aborted task may take to notice. */
  readonly abortMsMax?: number;
  /** Where the threads read documents. Without it they ask the store of the process. */
  readonly passages?: PassageSource | undefined;
  /** The program that the threads run. */
  readonly program?: URL;
}

/** Far above what a long draft takes, far below a reply's deadline. */
const taskMsMaxDefault = 60_000;
const abortMsMaxDefault = 2_000;

type Settings = Required<Omit<ThreadSettings, 'passages'>> & Pick<ThreadSettings, 'passages'>;

/**
 * Threads for work that would block the event loop: the embedded model, ranking and corroboration. Each runs one task at
 * a time, so a task that crashes or hangs affects no other task. Organizations take turns.
 *
 * Running out of memory is different: V8 ends the whole process if a thread allocates far beyond its own limit. Therefore
 * their input is limited: prompts, passages and drafts have maximum sizes.
 */
export class ModelThreads {
  readonly #store: PassageStore;
  readonly #settings: Settings;
  readonly #queue: FairQueue<OrganizationId>;
  readonly #threads = new Set<Worker>();
  /** Started on first use: a service that answers no prompts does not need them. */
  readonly #idle: Worker[] = [];

  constructor(store: PassageStore, settings: ThreadSettings) {
    this.#store = store;
    this.#settings = {
      taskMsMax: taskMsMaxDefault,
      abortMsMax: abortMsMaxDefault,
      program: new URL('./model-thread.ts', import.meta.url),
      ...settings,
    };
    this.#queue = new FairQueue(settings.threads);
  }

  /** The events of the task, in order. Rejects with a `ModelError` if its thread ended. */
  async *run<Event extends TaskEvent>(
    organizationId: OrganizationId,
    task: Task,
    signal: AbortSignal,
  ): AsyncGenerator<Event> {
    await this.#queue.acquire(organizationId, signal);
    const running = this.#begin(organizationId, task, signal);
    const abort = () => running.abort();
    signal.addEventListener('abort', abort, { once: true });
    void running.ended.then((isReusable) => {
      signal.removeEventListener('abort', abort);
      if (isReusable) this.#idle.push(running.worker);
      this.#queue.release(organizationId);
    });
    try {
      yield* running.events() as AsyncGenerator<Event>;
      signal.throwIfAborted();
    } finally {
      running.abort();
    }
  }

  /** Ends the threads and closes their connections to the store. Tasks that still run fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((worker) => worker.terminate()));
  }

  #begin(organizationId: OrganizationId, task: Task, signal: AbortSignal): RunningTask {
    try {
      const worker = this.#idle.pop() ?? this.#start();
      return new RunningTask(worker, task, this.#store, this.#settings, signal);
    } catch (error) {
      // The system cannot start another thread at the moment.
      this.#queue.release(organizationId);
      throw new ModelError(`No thread could be started: ${(error as Error).message}.`, { transient: true });
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#settings.program, {
      workerData: this.#settings.passages ?? null,
      // Not the flags of the process: a thread refuses some of them.
      execArgv: [],
      // Little of a task's memory outlives it. By default, V8 would keep more for every thread.
      resourceLimits: { maxYoungGenerationSizeMb: 24 },
    });
    // It serves the process and must not keep it alive.
    worker.unref();
    // A terminated thread may still report an error after its listeners are gone.
    worker.on('error', () => {});
    this.#threads.add(worker);
    worker.once('exit', () => {
      this.#threads.delete(worker);
      const place = this.#idle.indexOf(worker);
      if (place !== -1) this.#idle.splice(place, 1);
    });
    return worker;
  }
}

/** One task in one thread. */
class RunningTask {
  readonly worker: Worker;
  /** Whether the thread can take another task. */
  readonly ended: Promise<boolean>;
  readonly #store: PassageStore;
  readonly #settings: Settings;
  readonly #signal: AbortSignal;
  readonly #events: TaskEvent[] = [];
  #failure: Error | undefined;
  #hasEnded = false;
  #isAborted = false;
  #wake = () => {};
  #end: (isReusable: boolean) => void = () => {};
  #deadline: NodeJS.Timeout;

  constructor(worker: Worker, task: Task, store: PassageStore, settings: Settings, signal: AbortSignal) {
    this.worker = worker;
    this.#store = store;
    this.#settings = settings;
    this.#signal = signal;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#deadline = this.#endWithin(settings.taskMsMax);
    worker.on('message', this.#hear).on('error', this.#crash).on('exit', this.#crash);
    this.#tell({ type: 'task', task });
  }

  async *events(): AsyncGenerator<TaskEvent> {
    for (;;) {
      yield* this.#events.splice(0);
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#hasEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The thread keeps its place until it has noticed, or was ended. */
  abort(): void {
    if (this.#hasEnded) return;
    this.#isAborted = true;
    this.#tell({ type: 'abort' });
    clearTimeout(this.#deadline);
    this.#deadline = this.#endWithin(this.#settings.abortMsMax);
  }

  #endWithin(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#crash(new Error(`it did not end within ${ms} ms`)), ms).unref();
  }

  #tell(message: ToThread): void {
    this.worker.postMessage(message);
  }

  readonly #hear = (message: FromThread): void => {
    if (message.type === 'call') void this.#answer(message);
    else {
      this.#events.push(...message.events);
      if (message.type === 'end') this.#finish(message.failure && errorOf(message.failure), true);
      else this.#wake();
    }
  };

  async #answer({ id, method, args }: StoreCall): Promise<void> {
    clearTimeout(this.#deadline);
    try {
      const ask = this.#store[method] as (...args: readonly unknown[]) => Promise<unknown>;
      const value = await retryStore(() => ask(...args), this.#signal);
      if (this.#hasEnded || this.#isAborted) return;
      this.#deadline = this.#endWithin(this.#settings.taskMsMax);
      this.#tell({ type: 'answer', id, value });
    } catch (error) {
      this.#failure ??= error as Error;
      this.#wake();
      this.abort();
    }
  }

  readonly #crash = (reason: unknown): void => {
    const why = reason instanceof Error ? reason.message : `exit code ${reason}`;
    const error = new ModelError(`The thread that wrote the reply was ended: ${why}.`, { transient: true });
    this.#finish(error, false);
  };

  #finish(failure: Error | undefined, isReusable: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#failure ??= failure;
    clearTimeout(this.#deadline);
    this.worker.off('message', this.#hear).off('error', this.#crash).off('exit', this.#crash);
    if (!isReusable) void this.worker.terminate();
    this.#wake();
    this.#end(isReusable);
  }
}

function errorOf({ message, transient, retryAfterMs }: Failure): Error {
  return transient === undefined ? new Error(message) : new ModelError(message, { transient, retryAfterMs });
}
