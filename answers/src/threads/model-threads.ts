import { Worker } from 'node:worker_threads';
import { retryUntilAborted } from '../../../runtime/src/retry.ts';
import type { Corroborate } from '../corroboration/corroborate.ts';
import type { PassageStore } from '../port/documents.ts';
import { type Model, ModelError, type PassageSearch, type ReplyRequest } from '../port/model.ts';
import type { Call, FromThread, Outcome, PassageSource, Tasks, ToThread } from './model-thread.ts';

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

const closing = 'the service stops';

interface PendingTask extends PromiseWithResolvers<never> {
  readonly task: Call<Tasks>;
  readonly signal: AbortSignal;
  /** Set if its thread ended, which another task of the batch may have caused. It is run again, alone. */
  readonly isSuspect?: boolean;
}

/**
 * Threads for work that would block the event loop: the embedded model, ranking and corroboration. A task that crashes or
 * hangs fails alone: the others of its batch are run again. Organizations take turns. If a thread allocated far beyond its
 * memory limit, V8 would end the whole process, so prompts, passages and drafts have maximum sizes.
 */
export class ModelThreads implements Model, PassageSearch {
  readonly name = 'extractive';
  /** The next organization to serve comes first. */
  readonly #waiting = new Map<string, PendingTask[]>();
  /** None once they are closed. */
  readonly #threads: ModelThread[];
  #serving: NodeJS.Immediate | undefined;

  constructor(settings: ThreadSettings) {
    this.#threads = Array.from({ length: settings.threads }, () => new ModelThread(settings));
  }

  async *reply({ signal, ...request }: ReplyRequest) {
    yield* await this.#run(request.organizationId, signal, 'reply', request);
  }

  async *corroborate(...[draft, passages, signal, organizationId]: Parameters<Corroborate>) {
    yield* await this.#run(organizationId, signal, 'corroborate', draft, passages);
  }

  search(...[organizationId, accountId, question, limit, signal]: Parameters<PassageSearch['search']>) {
    return this.#run(organizationId, signal, 'search', organizationId, accountId, question, limit);
  }

  /** Ends the threads and closes their connections to the store. Tasks that run or wait fail. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.end(closing)));
    for (const { reject } of [...this.#waiting.values()].flat()) reject(ended(closing));
  }

  /** The result of the task. Rejects with a `ModelError` if its thread ended. */
  async #run<Method extends keyof Tasks>(
    organizationId: string,
    signal: AbortSignal,
    method: Method,
    ...args: Parameters<Tasks[Method]>
  ): Promise<Awaited<ReturnType<Tasks[Method]>>> {
    signal.throwIfAborted();
    if (this.#threads.length === 0) throw ended(closing);
    const settled = Promise.withResolvers<never>();
    const abort = () => settled.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const waiting = this.#waiting.get(organizationId) ?? [];
    waiting.push({ task: { method, args }, signal, ...settled });
    this.#waiting.set(organizationId, waiting);
    // Tasks that arrive in the same turn share a batch.
    this.#serving ??= setImmediate(() => this.#serve());
    return settled.promise.finally(() => signal.removeEventListener('abort', abort));
  }

  #serve(): void {
    this.#serving = undefined;
    for (const [organizationId, waiting] of this.#waiting) {
      const thread = this.#threads.find(({ running }) => running === undefined);
      if (thread === undefined) return;
      this.#waiting.delete(organizationId);
      const share = Math.min(tasksPerBatch, Math.ceil(waiting.length / this.#threads.length));
      const isAlone = waiting.slice(0, share).some(({ isSuspect }) => isSuspect);
      const batch = waiting.splice(0, isAlone ? 1 : share).filter(({ signal }) => !signal.aborted);
      if (waiting.length > 0) this.#waiting.set(organizationId, waiting);
      if (batch.length === 0) continue;
      void thread.run(batch).then((left) => {
        const later = this.#waiting.get(organizationId) ?? [];
        if (left.length > 0) this.#waiting.set(organizationId, [...left, ...later]);
        this.#serve();
      });
    }
  }
}

/** Starts its thread for the first batch, and another one after that thread has ended. */
class ModelThread {
  /** Undefined while the thread is free. */
  running: PromiseWithResolvers<readonly Outcome[]> | undefined;
  readonly #settings: ThreadSettings;
  #worker: Worker | undefined;
  /** Aborts when all tasks of the batch are aborted, or the thread ends. */
  #unwanted = new AbortController();
  #deadline: NodeJS.Timeout | undefined;

  constructor(settings: ThreadSettings) {
    this.#settings = settings;
  }

  /** Settles the tasks that were run and resolves to the others. */
  async run(batch: readonly PendingTask[]): Promise<readonly PendingTask[]> {
    const running = Promise.withResolvers<readonly Outcome[]>();
    this.running = running;
    this.#unwanted = new AbortController();
    // Tasks that are settled before the thread answers were aborted.
    void Promise.allSettled(batch.map(({ promise }) => promise)).then(() => {
      if (this.running !== running) return;
      this.#unwanted.abort();
      this.#endAfter(abortedMsMax);
    });
    try {
      this.#worker ??= this.#start();
      this.#tell({ tasks: batch.map(({ task }) => task) });
      const outcomes = await running.promise;
      for (const [at, outcome] of outcomes.entries()) {
        const { resolve, reject } = batch[at]!;
        if ('result' in outcome) resolve(outcome.result as never);
        else if (outcome.transient === undefined) reject(new Error(outcome.failure));
        else reject(new ModelError(outcome.failure, { transient: outcome.transient }));
      }
      return batch.slice(outcomes.length);
    } catch (error) {
      if (batch.length > 1) return batch.map((pending) => ({ ...pending, isSuspect: true }));
      batch[0]!.reject(error);
      return [];
    } finally {
      clearTimeout(this.#deadline);
      this.running = undefined;
    }
  }

  /** Does nothing if that worker was ended before. */
  async end(why: string, worker = this.#worker): Promise<void> {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.#unwanted.abort();
    this.running?.reject(ended(why));
    await worker?.terminate();
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
      worker.on('message', (message: FromThread) => void this.#receive(worker, message));
      worker.on('error', (error) => void this.end(error.message, worker));
      worker.on('exit', (code) => void this.end(`exit code ${code}`, worker));
      // It serves the process and must not keep it alive. Listeners would, so they come first.
      worker.unref();
      return worker;
    } catch (error) {
      throw new ModelError(`No thread could be started: ${(error as Error).message}.`, { transient: true });
    }
  }

  /** Ends the thread if a read fails and all of its tasks were aborted. */
  async #receive(worker: Worker, message: FromThread): Promise<void> {
    if (worker !== this.#worker) return;
    if ('outcomes' in message) return this.running?.resolve(message.outcomes);
    const { signal } = this.#unwanted;
    if (!signal.aborted) clearTimeout(this.#deadline);
    const read = this.#settings.store[message.method] as (...args: readonly unknown[]) => Promise<unknown>;
    try {
      const answer = await retryUntilAborted(() => read(...message.args), signal);
      if (worker === this.#worker) this.#tell({ answer });
    } catch {
      await this.end('its tasks were aborted', worker);
    }
  }

  #tell(message: ToThread): void {
    if (!this.#unwanted.signal.aborted) this.#endAfter(this.#settings.taskMsMax ?? defaultTaskMsMax);
    this.#worker?.postMessage(message);
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => void this.end(`it did not end within ${ms} ms`), ms).unref();
  }
}

function ended(why: string): ModelError {
  return new ModelError(`The thread that wrote the reply was ended: ${why}.`, { transient: true });
}
