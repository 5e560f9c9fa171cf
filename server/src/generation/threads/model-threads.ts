import { Worker } from 'node:worker_threads';
import type { FoundPassage } from '../../domain/document.ts';
import { FairQueue } from '../../domain/fair-queue.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Findings } from '../../domain/library.ts';
import type { Corroborate } from '../corroboration/corroborated.ts';
import { type Model, ModelError, type PassageSearch, type ReplyEvent, type ReplyRequest } from '../model.ts';
import type { PassageStore } from '../retrieval/search.ts';
import { retryStore } from '../retry-store.ts';

/** Work that takes the processor for milliseconds at a time. The first two result in events, a search in findings. */
export type Task =
  /** The embedded model's whole reply. */
  | { readonly kind: 'reply'; readonly request: Omit<ReplyRequest, 'signal'> }
  | { readonly kind: 'corroborate'; readonly draft: string; readonly passages: readonly FoundPassage[] }
  | { readonly kind: 'search'; readonly question: Parameters<PassageSearch['search']> };

/** The module with an `openPassages(location)` that gives a thread its own connection to the documents. */
export interface PassageSource {
  readonly module: string;
  readonly location: string;
}

/** A read that a thread leaves to the main thread because it has no connection to the store, or the connection failed. */
interface StoreCall {
  /** Unique within the thread: an answer may come after its task was aborted. */
  readonly id: number;
  readonly method: keyof PassageStore;
  readonly args: readonly unknown[];
}

export type ToThread =
  | { readonly type: 'task'; readonly task: Task }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'abort' };

export interface Failure {
  readonly message: string;
  /** Set for a `ModelError`. */
  readonly transient?: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** The task has ended with a result or a failure, and the thread is free, unless it calls the store. */
export type FromThread =
  | ({ readonly type: 'call' } & StoreCall)
  | { readonly type: 'result'; readonly result: unknown }
  | { readonly type: 'failure'; readonly failure: Failure };

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

/** The time for a task is far above what a long draft takes, and far below a reply's deadline. */
const defaults = {
  taskMsMax: 60_000,
  abortMsMax: 2_000,
  program: new URL('./model-thread.ts', import.meta.url),
};

type Settings = ThreadSettings & typeof defaults;

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
  /** Started on first use: a service that answers no prompts does not need them. */
  readonly #threads = new Set<ModelThread>();

  constructor(store: PassageStore, settings: ThreadSettings) {
    this.#store = store;
    this.#settings = { ...defaults, ...settings };
    this.#queue = new FairQueue(settings.threads);
  }

  /** The result of the task. Rejects with a `ModelError` if its thread ended. */
  async run<Result>(organizationId: OrganizationId, task: Task, signal: AbortSignal): Promise<Result> {
    await this.#queue.acquire(organizationId, signal);
    try {
      signal.throwIfAborted();
      return await this.#freeThread().run<Result>(task, signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      this.#queue.release(organizationId);
    }
  }

  /** Ends the threads and closes their connections to the store. Tasks that still run fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.end('the service stops')));
  }

  #freeThread(): ModelThread {
    for (const thread of this.#threads) {
      if (thread.hasEnded) this.#threads.delete(thread);
      else if (thread.isFree) return thread;
    }
    try {
      const thread = new ModelThread(this.#store, this.#settings);
      this.#threads.add(thread);
      return thread;
    } catch (error) {
      // The system cannot start another thread at the moment.
      throw new ModelError(`No thread could be started: ${(error as Error).message}.`, { transient: true });
    }
  }
}

interface Running {
  readonly signal: AbortSignal;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

class ModelThread {
  hasEnded = false;
  readonly #worker: Worker;
  readonly #store: PassageStore;
  readonly #settings: Settings;
  #running: Running | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(store: PassageStore, settings: Settings) {
    this.#store = store;
    this.#settings = settings;
    this.#worker = new Worker(settings.program, {
      workerData: settings.passages ?? null,
      // Not the flags of the process: a thread refuses some of them.
      execArgv: [],
      // Little of a task's memory outlives it. By default, V8 would keep more for every thread.
      resourceLimits: { maxYoungGenerationSizeMb: 24 },
    });
    this.#worker.on('message', (message: FromThread) => this.#hear(message));
    this.#worker.on('error', (error) => void this.end(error.message));
    this.#worker.on('exit', (code) => void this.end(`exit code ${code}`));
    // It serves the process and must not keep it alive. Listeners would, so they come first.
    this.#worker.unref();
  }

  get isFree(): boolean {
    return this.#running === undefined;
  }

  /** The thread is free again when the result settles: an aborted task has noticed then, or its thread was ended. */
  async run<Result>(task: Task, signal: AbortSignal): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#running = { signal, resolve, reject };
    const abort = () => {
      this.#tell({ type: 'abort' });
      this.#endAfter(this.#settings.abortMsMax);
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#endAfter(this.#settings.taskMsMax);
    this.#tell({ type: 'task', task });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', abort);
      clearTimeout(this.#deadline);
      this.#running = undefined;
    }
  }

  async end(why: string): Promise<void> {
    this.hasEnded = true;
    const error = new ModelError(`The thread that wrote the reply was ended: ${why}.`, { transient: true });
    this.#running?.reject(error);
    await this.#worker.terminate();
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => void this.end(`it did not end within ${ms} ms`), ms).unref();
  }

  #tell(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromThread): void {
    if (message.type === 'call') void this.#answer(message).catch(() => {});
    else if (message.type === 'result') this.#running?.resolve(message.result as never);
    else this.#running?.reject(errorOf(message.failure));
  }

  /** Rejects only if the task is aborted, which the thread learns by a message of its own. */
  async #answer({ id, method, args }: StoreCall): Promise<void> {
    const running = this.#running;
    if (running === undefined || running.signal.aborted) return;
    clearTimeout(this.#deadline);
    const read = this.#store[method] as (...args: readonly unknown[]) => Promise<unknown>;
    const value = await retryStore(() => read(...args), running.signal);
    if (running !== this.#running || running.signal.aborted) return;
    this.#endAfter(this.#settings.taskMsMax);
    this.#tell({ type: 'answer', id, value });
  }
}

function errorOf({ message, transient, retryAfterMs }: Failure): Error {
  return transient === undefined ? new Error(message) : new ModelError(message, { transient, retryAfterMs });
}

/** The embedded model, off the event loop. */
export function threadedExtractive(threads: ModelThreads): Model {
  return {
    name: 'extractive',
    async *reply({ signal, ...request }) {
      yield* await threads.run<ReplyEvent[]>(request.organizationId, { kind: 'reply', request }, signal);
    },
  };
}

export function threadedCorroborate(threads: ModelThreads): Corroborate {
  return async function* (draft, passages, signal, organizationId) {
    yield* await threads.run<ReplyEvent[]>(organizationId, { kind: 'corroborate', draft, passages }, signal);
  };
}

const neverAborted = new AbortController().signal;

export function threadedSearch(threads: ModelThreads): PassageSearch {
  return {
    search: (organizationId, accountId, question, limit, signal = neverAborted) =>
      threads.run<Findings>(
        organizationId,
        { kind: 'search', question: [organizationId, accountId, question, limit] },
        signal,
      ),
  };
}
