import { parentPort, Worker, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { Values } from '../sql/sql.ts';

interface Question {
  readonly id: number;
  readonly text: string;
  readonly values: Values;
}

interface Answer {
  readonly id: number;
  readonly rows?: unknown[];
  readonly error?: string;
}

interface Waiting {
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs queries in two threads, so that a long one blocks neither the process nor a query of another organization: the queue
 * of searches runs one of each organization at a time.
 */
export class ReadThreads {
  readonly #threads: readonly ReadThread[];

  constructor(file: string) {
    this.#threads = [new ReadThread(file), new ReadThread(file)];
  }

  /** Starts a thread before it is needed, so that the first query does not wait for it. */
  start(): void {
    this.#threads[0]!.start();
  }

  /** The rows as arrays. */
  all<Row>(text: string, values: Values): Promise<Row[]> {
    const [one, other] = this.#threads as [ReadThread, ReadThread];
    return (other.waiting < one.waiting ? other : one).all(text, values);
  }

  /** To be called before the database is closed. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

/**
 * Runs queries with a connection of its own, one at a time. Started on first use; it keeps the process alive only while
 * somebody waits for it.
 */
class ReadThread {
  readonly #file: string;
  readonly #waiting = new Map<number, Waiting>();
  #isClosed = false;
  #thread: Worker | undefined;
  #asked = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** How many queries it has not answered. */
  get waiting(): number {
    return this.#waiting.size;
  }

  start(): void {
    if (this.#thread !== undefined) return;
    this.#thread = this.#start();
    this.#thread.unref();
  }

  all<Row>(text: string, values: Values): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new Error('the store was closed'));
      this.#asked += 1;
      const question: Question = { id: this.#asked, text, values };
      this.start();
      this.#waiting.set(question.id, { resolve: resolve as Waiting['resolve'], reject });
      this.#thread!.ref();
      this.#thread!.postMessage(question);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(new URL(import.meta.url), {
      workerData: { readsFrom: this.#file },
      // Not the flags of the process: a thread refuses some of them.
      execArgv: [],
    });
    thread.on('message', ({ id, rows, error }: Answer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) thread.unref();
      if (rows === undefined) waiting?.reject(new Error(error));
      else waiting?.resolve(rows);
    });
    thread.on('error', (error) => this.#fail(thread, error));
    thread.on('exit', () => this.#fail(thread, new Error('the thread that reads the store has ended')));
    return thread;
  }

  #fail(thread: Worker, error: Error): void {
    // An error is followed by an exit, when the next query may already run in a new thread.
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

function answerAll(file: string): void {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true });
  const statements = new Map<string, Sqlite.Statement<[Values]>>();
  parentPort!.on('message', ({ id, text, values }: Question) => {
    try {
      const statement = statements.get(text) ?? database.prepare<[Values]>(text).raw();
      statements.set(text, statement);
      parentPort!.postMessage({ id, rows: statement.all(flagsAsNumbers(values)) } satisfies Answer);
    } catch (error) {
      parentPort!.postMessage({ id, error: (error as Error).message } satisfies Answer);
    }
  });
}

function flagsAsNumbers(values: Values): Values {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'boolean' ? Number(value) : value,
  ]);
  return Object.fromEntries(entries);
}

const { readsFrom } = (workerData ?? {}) as { readsFrom?: string };
if (parentPort !== null && readsFrom !== undefined) answerAll(readsFrom);
