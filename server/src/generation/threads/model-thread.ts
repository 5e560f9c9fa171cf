/** Runs in a worker thread of model-threads.ts: one batch of tasks at a time. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { Findings } from '../../domain/library.ts';
import { corroborate } from '../corroboration/corroborated.ts';
import { ModelError, type ReplyEvent } from '../model.ts';
import { extractiveModel } from '../models/extractive.ts';
import { type PassageStore, searchPassages } from '../retrieval/search.ts';
import type { Failure, FromThread, Outcome, PassageSource, Task, ToThread } from './model-threads.ts';

// On Linux 0 means this thread, not the process: the event loop gets the processor before we do.
setPriority(0, 10);

let abort = new AbortController();
let calls = 0;
let answered: (id: number, value: unknown) => void = () => {};

const tell = (message: FromThread) => parentPort?.postMessage(message);

function call(method: keyof PassageStore, ...args: unknown[]): Promise<never> {
  const id = ++calls;
  return new Promise((resolve, reject) => {
    answered = (answeredId, value) => {
      if (answeredId === id) resolve(value as never);
    };
    abort.signal.addEventListener('abort', () => reject(abort.signal.reason), { once: true });
    tell({ type: 'call', id, method, args });
  });
}

const source: PassageSource | null = workerData;
const reader: PassageStore | undefined =
  source && (await import(source.module)).openPassages(source.location);

/** Reads in this thread if possible. The main thread repeats a failed read until the store is available. */
const ask = (method: keyof PassageStore, ...args: unknown[]): Promise<never> => {
  const read = reader?.[method] as ((...args: unknown[]) => Promise<never>) | undefined;
  return read === undefined ? call(method, ...args) : read(...args).catch(() => call(method, ...args));
};

const store: PassageStore = {
  findPassages: (...args) => ask('findPassages', ...args),
  readPassages: (...args) => ask('readPassages', ...args),
  outlineDocuments: (...args) => ask('outlineDocuments', ...args),
};
const model = extractiveModel(store);

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'tasks') void run(message.tasks);
  else if (message.type === 'answer') answered(message.id, message.value);
  else abort.abort();
});

/** Results do not wait longer than this for those of the next tasks, nor do tasks of other organizations. */
const batchMs = 20;

/** One message with the whole results: sending one costs more than its content, and a reply takes a millisecond. */
async function run(tasks: readonly Task[]): Promise<void> {
  abort = new AbortController();
  const outcomes: Outcome[] = [];
  const startedMs = performance.now();
  for (const task of tasks) {
    outcomes.push(await outcomeOf(task));
    if (abort.signal.aborted || performance.now() - startedMs >= batchMs) break;
  }
  tell({ type: 'outcomes', outcomes });
}

async function outcomeOf(task: Task): Promise<Outcome> {
  try {
    return { result: await resultOf(task, abort.signal) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

async function resultOf(task: Task, signal: AbortSignal): Promise<ReplyEvent[] | Findings> {
  if (task.kind === 'reply') {
    const events: ReplyEvent[] = [];
    for await (const event of model.reply({ ...task.request, signal })) events.push(event);
    return events;
  }
  if (task.kind === 'corroborate') return [...corroborate(task.draft, task.passages)];
  const [organizationId, accountId, question, limit] = task.question;
  const found = await searchPassages(store, organizationId, accountId, question, limit);
  const { searched, passages, ranked } = found;
  return { searched, passages, scores: ranked.map(({ score }) => score) };
}

function failureOf(error: unknown): Failure {
  if (error instanceof ModelError) {
    const { message, transient, retryAfterMs } = error;
    return { message, transient, retryAfterMs };
  }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
