import { Worker } from 'node:worker_threads';
import type { FoundPassage, Library } from '../../domain/document.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Corroborate } from '../corroboration/corroborated.ts';
import { type Model, ModelError, type PassageSearch, type ReplyEvent, type ReplyRequest } from '../model.ts';
import type { PassageStore } from '../retrieval/search.ts';
import { retryStore } from '../retry-store.ts';

/** Work that keeps a processor busy for milliseconds at a time. */
export interface Tasks {
  /** The embedded model's whole reply. */
  reply(request: Omit<ReplyRequest, 'signal'>): Promise<ReplyEvent[]>;
  corroborate(draft: string, passages: readonly FoundPassage[]): Promise<ReplyEvent[]>;
  search: Library['search'];
}

/** A call of a method across threads. */
export interface Call<Target> {
  readonly method: keyof Target;
  readonly args: readonly unknown[];
}

/** The module with an `openPassages(location)` that gives a thread its own connection to the documents. */
export interface PassageSource {
  readonly module: string;
  readonly location: string;
}

export type ToThread =
  /** Tasks of one organization, to be run in order. */
  { readonly tasks: readonly Call<Tasks>[] } | { readonly answer: unknown };

export type Outcome =
  | { readonly result: unknown }
  /** `transient` is set for a `ModelError`. */
  | { readonly failure: string; readonly transient?: boolean };

export type FromThread =
  /** A read for a thread that has no connection to the store, or whose connection failed. */
  | Call<PassageStore>
  /** The thread is free. It has run the first tasks of the batch, and none of the others. */
  | { readonly outcomes: readonly Outcome[] };

export interface ThreadSettings {
  readonly store: PassageStore;
  readonly threads: number;
  /** A task that takes longer has hung: its thread is ended. Time in which it waits for the store does not count. */
  readonly taskMsMax?: number;
  /** Where the threads read documents. Without it they ask the store of the process. */
  readonly passages?: PassageSource | undefined;
  /** The program that the threads run. */
  readonly program?: URL;
}

/** Far above what a long draft takes, and far below a reply's deadline. */
const defaultTaskMsMax = 60_000;
/** How long a thread may continue with tasks that were all aborted. */
const abortedMsMax = 2_000;
const defaultProgram = new URL('./model-thread.ts', import.meta.url);

/** Tasks of one organization that wait share a batch, so that their results share a message, and replies a commit. */
const tasksPerBatch = 16;

interface PendingTask {
  readonly task: Call<Tasks>;
  readonly signal: AbortSignal;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  /** Set if its thread ended, which another task of the batch may have caused. It is run again, alone. */
  readonly isSuspect?: boolean;
}

/**
 * Threads for work that would block the event loop: the embedded model, ranking and corroboration. A task that crashes or
 * hangs fails alone: the others of its batch are run again. Organizations take turns.
 *
 * Running out of memory is different: V8 ends the whole process if a thread allocates far beyond its own limit. Therefore
 * their input is limited: prompts, passages and drafts have maximum sizes.
 */
export class ModelThreads {
  readonly #settings: ThreadSettings;
  /** The next organization to serve comes first. */
  readonly #waiting = new Map<OrganizationId, PendingTask[]>();
  /** Started on first use: a service that answers no prompts does not need them. */
  readonly #threads = new Set<ModelThread>();
  #serving: NodeJS.Immediate | undefined;
  #isClosed = false;

  constructor(settings: ThreadSettings) {
    this.#settings = settings;
  }

  /** The result of the task. Rejects with a `ModelError` if its thread ended. */
  async run<Method extends keyof Tasks>(
    organizationId: OrganizationId,
    signal: AbortSignal,
    method: Method,
    ...args: Parameters<Tasks[Method]>
  ): Promise<Awaited<ReturnType<Tasks[Method]>>> {
    signal.throwIfAborted();
    if (this.#isClosed) throw ended('the service stops');
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Tasks[Method]>>>();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const waiting = this.#waiting.get(organizationId) ?? [];
    waiting.push({ task: { method, args }, signal, resolve, reject });
    this.#waiting.set(organizationId, waiting);
    // Tasks that arrive in the same turn share a batch.
    this.#serving ??= setImmediate(() => this.#serve());
    return promise.finally(() => signal.removeEventListener('abort', abort));
  }

  /** Ends the threads and closes their connections to the store. Tasks that run or wait fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.end('the service stops')));
    for (const { reject } of [...this.#waiting.values()].flat()) reject(ended('the service stops'));
  }

  #serve(): void {
    this.#serving = undefined;
    for (const [organizationId, waiting] of this.#waiting) {
      const thread = this.#freeThread();
      if (thread === undefined) return;
      this.#waiting.delete(organizationId);
      const batch = this.#takeBatch(waiting);
      if (waiting.length > 0) this.#waiting.set(organizationId, waiting);
      if (batch.length === 0) continue;
      void thread.run(batch).then((left) => {
        const later = this.#waiting.get(organizationId) ?? [];
        if (left.length > 0) this.#waiting.set(organizationId, [...left, ...later]);
        this.#serve();
      });
    }
  }

  /** Removes the tasks of the next batch, and those that were aborted meanwhile. */
  #takeBatch(waiting: PendingTask[]): PendingTask[] {
    const share = Math.min(tasksPerBatch, Math.ceil(waiting.length / this.#settings.threads));
    const suspect = waiting.slice(0, share).findIndex(({ isSuspect }) => isSuspect);
    const count = suspect === -1 ? share : Math.max(1, suspect);
    return waiting.splice(0, count).filter(({ signal }) => !signal.aborted);
  }

  /** Undefined if all threads are busy. */
  #freeThread(): ModelThread | undefined {
    for (const thread of this.#threads) {
      if (thread.hasEnded) this.#threads.delete(thread);
      else if (thread.isFree) return thread;
    }
    if (this.#isClosed || this.#threads.size >= this.#settings.threads) return undefined;
    const thread = new ModelThread(this.#settings);
    this.#threads.add(thread);
    return thread;
  }
}

class ModelThread {
  hasEnded = false;
  readonly #settings: ThreadSettings;
  #worker: Worker | undefined;
  #running: PromiseWithResolvers<readonly Outcome[]> | undefined;
  /** Aborts when all tasks of the batch are aborted. */
  #unwanted = new AbortController();
  #deadline: NodeJS.Timeout | undefined;

  constructor(settings: ThreadSettings) {
    this.#settings = settings;
  }

  get isFree(): boolean {
    return this.#running === undefined;
  }

  /** Settles the tasks that were run and resolves to the others. Then the thread is free or was ended. */
  async run(batch: readonly PendingTask[]): Promise<readonly PendingTask[]> {
    this.#running = Promise.withResolvers();
    this.#unwanted = new AbortController();
    const abortIfUnwanted = () => {
      if (!batch.every(({ signal }) => signal.aborted)) return;
      this.#unwanted.abort();
      this.#endAfter(abortedMsMax);
    };
    for (const { signal } of batch) signal.addEventListener('abort', abortIfUnwanted, { once: true });
    try {
      this.#worker ??= this.#start();
      this.#tell({ tasks: batch.map(({ task }) => task) });
      const outcomes = await this.#running.promise;
      for (const [at, outcome] of outcomes.entries()) {
        if ('failure' in outcome) batch[at]!.reject(errorOf(outcome));
        else batch[at]!.resolve(outcome.result as never);
      }
      return batch.slice(outcomes.length);
    } catch (error) {
      if (batch.length > 1) return batch.map((pending) => ({ ...pending, isSuspect: true }));
      batch[0]!.reject(error);
      return [];
    } finally {
      for (const { signal } of batch) signal.removeEventListener('abort', abortIfUnwanted);
      clearTimeout(this.#deadline);
      this.#running = undefined;
    }
  }

  async end(why: string): Promise<void> {
    this.hasEnded = true;
    this.#unwanted.abort();
    this.#running?.reject(ended(why));
    await this.#worker?.terminate();
  }

  /** Throws a `ModelError` if the system cannot start another thread at the moment. */
  #start(): Worker {
    try {
      const worker = new Worker(this.#settings.program ?? defaultProgram, {
        workerData: this.#settings.passages ?? null,
        // Not the flags of the process: a thread refuses some of them.
        execArgv: [],
        // Little of a task's memory outlives it. By default, V8 would keep more for every thread.
        resourceLimits: { maxYoungGenerationSizeMb: 24 },
      });
      worker.on('message', (message: FromThread) => {
        if ('outcomes' in message) this.#running?.resolve(message.outcomes);
        else void this.#answer(message).catch(() => this.end('its tasks were aborted'));
      });
      worker.on('error', (error) => void this.end(error.message));
      worker.on('exit', (code) => void this.end(`exit code ${code}`));
      // It serves the process and must not keep it alive. Listeners would, so they come first.
      worker.unref();
      return worker;
    } catch (error) {
      throw new ModelError(`No thread could be started: ${(error as Error).message}.`, { transient: true });
    }
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => void this.end(`it did not end within ${ms} ms`), ms).unref();
  }

  #tell(message: ToThread): void {
    if (!this.#unwanted.signal.aborted) this.#endAfter(this.#settings.taskMsMax ?? defaultTaskMsMax);
    this.#worker?.postMessage(message);
  }

  /** Rejects if the store is unavailable and all tasks are aborted. */
  async #answer({ method, args }: Call<PassageStore>): Promise<void> {
    const { signal } = this.#unwanted;
    if (!signal.aborted) clearTimeout(this.#deadline);
    const read = this.#settings.store[method] as (...args: readonly unknown[]) => Promise<unknown>;
    const answer = await retryStore(() => read(...args), signal);
    if (!this.hasEnded) this.#tell({ answer });
  }
}

function ended(why: string): ModelError {
  return new ModelError(`The thread that wrote the reply was ended: ${why}.`, { transient: true });
}

function errorOf({ failure, transient }: Extract<Outcome, { failure: string }>): Error {
  return transient === undefined ? new Error(failure) : new ModelError(failure, { transient });
}

/** The embedded model, off the event loop. */
export function threadedExtractive(threads: ModelThreads): Model {
  return {
    name: 'extractive',
    async *reply({ signal, ...request }) {
      yield* await threads.run(request.organizationId, signal, 'reply', request);
    },
  };
}

export function threadedCorroborate(threads: ModelThreads): Corroborate {
  return async function* (draft, passages, signal, organizationId) {
    yield* await threads.run(organizationId, signal, 'corroborate', draft, passages);
  };
}

export function threadedSearch(threads: ModelThreads): PassageSearch {
  return {
    search: (organizationId, accountId, question, limit, signal) =>
      threads.run(organizationId, signal, 'search', organizationId, accountId, question, limit),
  };
}
