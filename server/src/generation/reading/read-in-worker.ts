import { Worker } from 'node:worker_threads';
import { type DocumentText, UnreadableDocument } from '../../domain/document.ts';

export interface ReadingTask {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export type ReadingOutcome = { readonly document: DocumentText } | { readonly fault: string };

interface Bounds {
  readonly timeMaxMs: number;
  /** Outside of the heap, whose limit does not count it: what a parser has decompressed. */
  readonly bufferMaxMb: number;
}

/** Measured: 2.2 s for a PDF of 500 pages, 1.6 s for 4.9 MB of Markdown. */
const deadlineMs = 120_000;
const memoryMaxMb = 1_024;
/** Decompressing, the PDF parser takes some 100 MB in that time. */
const lookAtMemoryEveryMs = 250;
const idleMs = 5_000;
/** However many files come together: each thread may take all of its memory, and a processor. */
const readAtOnceMax = 2;

/** Starting one takes about 180 ms: the next file is likely to come soon. */
let idle: { worker: Worker; timer: NodeJS.Timeout } | undefined;

/**
 * Reads a file in a thread of its own: one that takes too long or too much memory ends that thread and nothing else,
 * and requests are answered meanwhile. What a parser prints reaches nobody.
 */
export async function readInWorker(task: ReadingTask, bounds: Partial<Bounds> = {}): Promise<DocumentText> {
  if (reading >= readAtOnceMax) await new Promise<void>((resolve) => waiting.push(resolve));
  else reading += 1;
  try {
    return await readNow(task, { timeMaxMs: deadlineMs, bufferMaxMb: memoryMaxMb, ...bounds });
  } finally {
    // The place is handed on, or given back.
    const next = waiting.shift();
    if (next === undefined) reading -= 1;
    else next();
  }
}

let reading = 0;
const waiting: (() => void)[] = [];

async function readNow(task: ReadingTask, bounds: Bounds): Promise<DocumentText> {
  const worker = takeWorker();
  const outcome = await outcomeOf(worker, task, bounds);
  if ('excess' in outcome) {
    await worker.terminate();
    throw new UnreadableDocument(outcome.excess);
  }
  if ('crash' in outcome) throw crashed(outcome.crash);
  keepWorker(worker);
  if ('fault' in outcome) throw new UnreadableDocument(outcome.fault);
  return outcome.document;
}

const tooMuchMemory = 'takes too much memory to read';

type Outcome = ReadingOutcome | { readonly crash: unknown } | { readonly excess: string };

/** A thread that ends for another reason than memory is a fault of ours, not of the file. */
function crashed(cause: unknown): Error {
  const isOutOfMemory =
    cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  if (isOutOfMemory) return new UnreadableDocument(tooMuchMemory, { cause });
  return new Error('the thread that reads files has ended', { cause });
}

function outcomeOf(
  worker: Worker,
  { name, bytes }: ReadingTask,
  { timeMaxMs, bufferMaxMb }: Bounds,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const timer = setTimeout(settle, timeMaxMs, { excess: 'takes too long to read' });
    const watch = setInterval(async () => {
      if ((await buffersMb(worker)) > bufferMaxMb) settle({ excess: tooMuchMemory });
    }, lookAtMemoryEveryMs);
    function settle(outcome: Outcome): void {
      clearTimeout(timer);
      clearInterval(watch);
      worker.off('message', settle).off('error', crash).off('exit', crash);
      resolve(outcome);
    }
    function crash(cause: unknown): void {
      settle({ crash: cause });
    }
    worker.on('message', settle).on('error', crash).on('exit', crash);
    const copy = new Uint8Array(bytes);
    worker.postMessage({ name, bytes: copy } satisfies ReadingTask, [copy.buffer]);
  });
}

/** Asked of the thread from outside: it answers however busy it is. One that does not run has none. */
async function buffersMb(worker: Worker): Promise<number> {
  const statistics = await worker.getHeapStatistics().catch(() => undefined);
  return (statistics?.external_memory ?? 0) / 1024 / 1024;
}

function takeWorker(): Worker {
  if (idle !== undefined) {
    const { worker, timer } = idle;
    idle = undefined;
    clearTimeout(timer);
    worker.ref();
    return worker;
  }
  const worker = new Worker(new URL('./reading-worker.ts', import.meta.url), {
    // Not the flags of the process: some of them are refused by a thread that runs a file.
    execArgv: [],
    // Taken from the process and never read: reading them would keep the process alive.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMaxMb },
  });
  // A thread that is being ended may still report why, when nobody waits for it any more.
  worker.on('error', () => {});
  return worker;
}

/** Neither the thread nor its timer keeps the process alive. */
function keepWorker(worker: Worker): void {
  if (idle !== undefined) {
    void worker.terminate();
    return;
  }
  worker.unref();
  const timer = setTimeout(() => {
    idle = undefined;
    void worker.terminate();
  }, idleMs).unref();
  idle = { worker, timer };
}
