import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { setPriority } from 'node:os';
import { resolve } from 'node:path';
import { formatOf, type IndexedDocument, UnreadableDocument } from '../../domain/document.ts';
import { FairQueue } from '../../domain/fair-queue.ts';
import type { Limits } from '../../domain/limits.ts';
import { orUndefined } from '../../domain/or-undefined.ts';

export interface ReadingTask {
  readonly name: string;
  readonly path: string;
  readonly limits: Limits;
}

/** Answers the task and each `next` with some passages, so that none blocks the event loop. The last has the `head`. */
export type ReadingResult =
  | { readonly fault: string }
  | { readonly part: IndexedDocument['passages']; readonly head?: Omit<IndexedDocument, 'passages'> };

const idleMs = 5_000;
/** Requests take precedence over reading when processors are busy. */
const niceness = 10;

/**
 * Reads files in separate processes, and kills one that takes too long or too much memory. (A thread would not be enough: V8
 * aborts the whole process when a thread grows far beyond its limit.) Organizations take turns, and no organization
 * occupies every process if there are several. What a parser prints is discarded.
 *
 * The returned function rejects with an `UnreadableDocument`, whose message continues a sentence that starts with the file's
 * name: 'is empty'. Reading ends within the time limit.
 */
export function documentReader(limits: Limits, program = new URL('./reading-process.ts', import.meta.url)) {
  const slots = new FairQueue<string>(limits.documentReaders, Math.max(1, limits.documentReaders - 1));
  /** Kept for the next file, because starting a process takes about 200 ms. */
  let idle: { child: ChildProcess; timer: NodeJS.Timeout } | undefined;

  async function readNow(task: ReadingTask): Promise<IndexedDocument> {
    const child = takeProcess();
    try {
      const answer = await answerOf(child, task);
      if (idle === undefined) keepProcess(child);
      if ('fault' in answer) throw new UnreadableDocument(answer.fault);
      return answer;
    } finally {
      if (idle?.child !== child) child.kill('SIGKILL');
    }
  }

  function takeProcess(): ChildProcess {
    const { child: kept, timer } = idle ?? {};
    idle = undefined;
    clearTimeout(timer);
    if (kept?.connected) {
      kept.ref();
      kept.channel?.ref();
      return kept;
    }
    const { documentReadMb } = limits;
    // The heap has its own limit, but what a parser unpacks is outside the heap.
    const child = fork(program, [String(process.pid), String(2 * documentReadMb)], {
      execArgv: [`--max-old-space-size=${documentReadMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // The folder of the service may have been removed, for example by a deployment. Node.js cannot start there.
      cwd: import.meta.dirname,
      // In a process group of its own: Ctrl-C stops the service, which first finishes the files that it is reading.
      detached: true,
      // The secrets of the service are left out.
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    });
    // Sending to a process that is being killed fails after its outcome is known.
    child.on('error', () => {});
    // If the process has already exited, `answerOf` reports it.
    orUndefined(() => child.pid !== undefined && setPriority(child.pid, niceness));
    return child;
  }

  /** Neither the process nor its timer keeps the service alive. */
  function keepProcess(child: ChildProcess): void {
    child.unref();
    child.channel?.unref();
    const timer = setTimeout(() => {
      idle = undefined;
      child.kill('SIGKILL');
    }, idleMs).unref();
    idle = { child, timer };
  }

  return async (organizationId: string, name: string, path: string): Promise<IndexedDocument> => {
    formatOf(name);
    // The reading process runs in another folder.
    const task = { name, path: resolve(path), limits };
    return slots.run(organizationId, () => readNow(task));
  };
}

/** Rejects if the process exits or exceeds its time or memory. The caller must then kill it. */
async function answerOf(child: ChildProcess, task: ReadingTask) {
  const { documentReadMs, documentReadMb } = task.limits;
  const signal = AbortSignal.timeout(documentReadMs);
  const messages = on(child, 'message', { signal, close: ['exit'] });
  // If no file descriptor is free, the child has no IPC channel; an `error` event follows.
  if (child.connected) child.send(task);
  const passages = [];
  try {
    for await (const [answer] of messages as AsyncIterable<[ReadingResult]>) {
      if ('fault' in answer) return answer;
      passages.push(...answer.part);
      if (answer.head !== undefined) return { ...answer.head, passages };
      child.send('next');
    }
  } catch (cause) {
    if (signal.aborted) throw new UnreadableDocument(`takes longer than ${documentReadMs / 1000} s to read`);
    throw new Error('the process that reads files failed', { cause });
  }
  const { exitCode, signalCode } = child;
  // V8 aborts when its heap is full, and traps if the system refuses it memory. The process sends itself SIGUSR2.
  if (['SIGABRT', 'SIGTRAP', 'SIGUSR2'].includes(signalCode ?? '') || exitCode === 134)
    throw new UnreadableDocument(`takes more than ${documentReadMb} MB of memory to read`);
  // When the machine runs out of memory, the system may choose this process, however little the file needs.
  if (signalCode === 'SIGKILL')
    throw new UnreadableDocument(
      'could not be read: its process was killed, probably because the machine ran out of memory. Try again',
    );
  throw new Error(`the process that reads files ended (${signalCode ?? exitCode})`);
}
