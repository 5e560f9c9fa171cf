/** Runs in a worker thread of model-threads.ts: one batch of tasks at a time. */
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { corroborate } from '../corroboration/corroborated.ts';
import { ModelError, type ReplyEvent } from '../model.ts';
import { extractiveModel } from '../models/extractive.ts';
import { type PassageStore, searchPassages } from '../retrieval/search.ts';
import type { Call, FromThread, Outcome, PassageSource, Tasks, ToThread } from './model-threads.ts';

// On Linux 0 means this thread, not the process: the event loop gets the processor before we do.
setPriority(0, 10);

const tell = (message: FromThread) => parentPort?.postMessage(message);

/** Nothing else is sent to a thread that waits for an answer. */
async function call(method: keyof PassageStore, args: readonly unknown[]): Promise<never> {
  tell({ method, args });
  const [{ answer }] = await once(parentPort!, 'message');
  return answer as never;
}

const source: PassageSource | null = workerData;
const reader: PassageStore | undefined =
  source && (await import(source.module)).openPassages(source.location);

/** Reads in this thread if possible. The main thread repeats a failed read until the store is available. */
const ask = (method: keyof PassageStore, ...args: unknown[]): Promise<never> => {
  const read = reader?.[method] as ((...args: unknown[]) => Promise<never>) | undefined;
  return read === undefined ? call(method, args) : read(...args).catch(() => call(method, args));
};

const store: PassageStore = {
  findPassages: (...args) => ask('findPassages', ...args),
  readPassages: (...args) => ask('readPassages', ...args),
  outlineDocuments: (...args) => ask('outlineDocuments', ...args),
};
const model = extractiveModel(store);
/** Never aborts: the result of an aborted task is ignored. */
const { signal } = new AbortController();

const tasks: Tasks = {
  async reply(request) {
    const events: ReplyEvent[] = [];
    for await (const event of model.reply({ ...request, signal })) events.push(event);
    return events;
  },
  corroborate: async (draft, passages) => [...corroborate(draft, passages)],
  async search(organizationId, accountId, question, limit) {
    const found = await searchPassages(store, organizationId, accountId, question, limit);
    return { searched: found.searched, passages: found.passages };
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
  for (const task of batch) {
    outcomes.push(await outcomeOf(task));
    if (performance.now() - startedMs >= batchMs) break;
  }
  tell({ outcomes });
}

async function outcomeOf({ method, args }: Call<Tasks>): Promise<Outcome> {
  try {
    const task = tasks[method] as (...args: readonly unknown[]) => Promise<unknown>;
    return { result: await task(...args) };
  } catch (error) {
    if (error instanceof ModelError) return { failure: error.message, transient: error.transient };
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
