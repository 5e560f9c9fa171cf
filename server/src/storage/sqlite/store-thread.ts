import { parentPort, type ResourceLimits, Worker, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { Values } from '../sql/sql.ts';

interface ThreadOptions {
  readonly readonly: boolean;
  readonly resourceLimits?: ResourceLimits;
}

type Query = { readonly text: string; readonly values: Values };
type QueryResult = { readonly rows: unknown[] } | { readonly error: string };

export type ReadThreads = ReturnType<typeof createReadThreads>;

/** Two threads, so that a long search blocks no other organization: each organization searches one at a time. */
export function createReadThreads(file: string) {
  const [one, other] = [new StoreThread(file), new StoreThread(file)];
  return {
    /** Starts a thread before it is needed, so that the first query does not wait for it. */
    start: () => one.start(),
    /** The rows as arrays. */
    all: <Row>(text: string, values: Values): Promise<Row[]> =>
      (other.waiting < one.waiting ? other : one).all(text, values),
    close: () => Promise.all([one.close(), other.close()]),
  };
}

/** Runs statements one at a time on a connection of its own. Starts when needed; an idle thread lets the process end. */
export class StoreThread {
  readonly #file: string;
  readonly #options: ThreadOptions;
  /** Of statements without a result yet, in order. */
  readonly #waiting: PromiseWithResolvers<unknown[]>[] = [];
  #isClosed = false;
  #thread: Worker | undefined;

  constructor(file: string, options: ThreadOptions = { readonly: true }) {
    this.#file = file;
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async all<Row>(text: string, values: Values): Promise<Row[]> {
    if (this.#isClosed) throw new Error('the store was closed');
    this.start();
    // Throws if a value cannot be sent.
    this.#thread!.postMessage({ text, values } satisfies Query);
    const result = Promise.withResolvers<unknown[]>();
    this.#waiting.push(result);
    this.#thread!.ref();
    return result.promise as Promise<Row[]>;
  }

  /** Call it before the database is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  start(): void {
    if (this.#thread !== undefined) return;
    const { readonly, resourceLimits = {} } = this.#options;
    const thread = new Worker(new URL(import.meta.url), {
      workerData: { store: this.#file, readonly },
      // Not the flags of the process: a thread refuses some of them.
      execArgv: [],
      resourceLimits,
    });
    thread.on('message', (result: QueryResult) => {
      if (this.#thread !== thread) return;
      const waiting = this.#waiting.shift();
      if (this.#waiting.length === 0) thread.unref();
      if ('error' in result) waiting?.reject(new Error(result.error));
      else waiting?.resolve(result.rows);
    });
    // Results come in the order of the statements. After a lost one, each would go to the wrong caller.
    thread.on('messageerror', (error) => {
      this.#fail(thread, error);
      void thread.terminate();
    });
    thread.on('error', (error) => this.#fail(thread, error));
    thread.on('exit', () => this.#fail(thread, new Error('a thread of the store has ended')));
    thread.unref();
    this.#thread = thread;
  }

  #fail(thread: Worker, error: Error): void {
    // An error is followed by an exit, when the next statement may already run in a new thread.
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

function runQueries(file: string, readonly: boolean): void {
  const database = new Sqlite(file, { readonly, fileMustExist: true });
  const statements = new Map<string, Sqlite.Statement<[Values]>>();
  parentPort!.on('message', ({ text, values }: Query) => {
    try {
      const statement = statements.get(text) ?? database.prepare<[Values]>(text).raw();
      statements.set(text, statement);
      parentPort!.postMessage({ rows: statement.all(values) } satisfies QueryResult);
    } catch (error) {
      parentPort!.postMessage({ error: (error as Error).message } satisfies QueryResult);
    }
  });
}

const { store, readonly } = (workerData ?? {}) as { store?: string; readonly: boolean };
if (parentPort !== null && store !== undefined) runQueries(store, readonly);
