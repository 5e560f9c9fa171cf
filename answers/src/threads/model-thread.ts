/** Runs in a worker thread of model-threads.ts: one batch of tasks at a time. */

import { once } from 'node:events';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { corroborate } from '../corroboration/corroborate.ts';
import { extractiveModel } from '../models/extractive.ts';
import type { Findings, PassageStore } from '../port/documents.ts';
import { ModelError, type ReplyRequest } from '../port/model.ts';
import { searchPassages } from '../retrieval/search.ts';

/** Work that keeps a processor busy for milliseconds at a time. */
export type Tasks = typeof tasks;

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

// On Linux 0 means this thread, not the process: the event loop gets the processor before we do.
setPriority(0, 10);

const tell = (message: FromThread) => parentPort?.postMessage(message);

const source: PassageSource | null = workerData;
const reader: PassageStore | undefined =
  source && (await import(source.module)).openPassages(source.location);

/** Reads in this thread if possible. The main thread repeats a failed read until the store is available. */
function reading(method: keyof PassageStore): (...args: readonly unknown[]) => Promise<never> {
  const read = reader?.[method] as ((...args: readonly unknown[]) => Promise<never>) | undefined;
  const call = async (...args: readonly unknown[]) => {
    tell({ method, args });
    // Nothing else is sent to a thread that waits for an answer.
    const [{ answer }] = await once(parentPort!, 'message');
    return answer as never;
  };
  return read === undefined ? call : (...args) => read(...args).catch(() => call(...args));
}

const store: PassageStore = {
  findPassages: reading('findPassages'),
  readPassages: reading('readPassages'),
  outlineDocuments: reading('outlineDocuments'),
};
const model = extractiveModel(store);
/** Never aborts: the result of an aborted task is ignored. */
const { signal } = new AbortController();

const tasks = {
  /** The embedded model's whole reply. */
  reply: (request: Omit<ReplyRequest, 'signal'>) => Array.fromAsync(model.reply({ ...request, signal })),
  corroborate: async (...asked: Parameters<typeof corroborate>) => [...corroborate(...asked)],
  async search(
    organizationId: string,
    accountId: string | null,
    question: string,
    limit: number,
  ): Promise<Findings> {
    const { searched, passages } = await searchPassages(store, organizationId, accountId, question, limit);
    return { searched, passages };
  },
};

parentPort?.on('message', (message: ToThread) => {
  if ('tasks' in message) void run(message.tasks);
});

/** Results do not wait longer than this for those of the next tasks, nor do tasks of other organizations. */
const batchMs = 20;

/** Sends all results in one message: a message costs more than its content, and a reply takes a millisecond. */
async function run(batch: readonly Call<Tasks>[]): Promise<void> {
  const outcomes: Outcome[] = [];
  const startedMs = performance.now();
  for (const { method, args } of batch) {
    const task = tasks[method] as (...args: readonly unknown[]) => Promise<unknown>;
    outcomes.push(await task(...args).then((result) => ({ result }), toFailure));
    if (performance.now() - startedMs >= batchMs) break;
  }
  tell({ outcomes });
}

function toFailure(error: unknown): Outcome {
  if (error instanceof ModelError) return { failure: error.message, transient: error.transient };
  return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
