import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { type FileSource, type IndexedDocument, UnreadableDocument } from '../../domain/document.ts';
import type { Limits } from '../../domain/limits.ts';
import { FairQueue } from '../fair-queue.ts';
import { formatOf } from './formats.ts';

export interface ReadingTask {
  readonly name: string;
  readonly source: FileSource;
  readonly limits: Limits;
}

/** What a reading process answers to a task, and then to each `next`: nobody waits long for one part to be taken in. */
export type ReadingAnswer =
  | { readonly fault: string }
  | { readonly head: Omit<IndexedDocument, 'passages'>; readonly passageCount: number }
  | { readonly part: IndexedDocument['passages'] };

const lookAtMemoryEveryMs = 100;
const idleMs = 5_000;
/** Requests come first where a machine has too few processors. */
const niceness = 10;

/**
 * Reads files in processes of their own: one that takes too long or too much memory is killed, and nothing else is. (Not
 * in threads: V8 ends the whole process where a thread grows far beyond its limit.) Organizations take turns, and one
 * alone never has all places. What a parser prints reaches nobody.
 */
export class DocumentReader {
  readonly #limits: Limits;
  readonly #program: URL;
  readonly #places: FairQueue<string>;
  /** Starting a process takes about 200 ms: the next file is likely to come soon. */
  #idle: { child: ChildProcess; timer: NodeJS.Timeout } | undefined;

  constructor(limits: Limits, program = new URL('./reading-process.ts', import.meta.url)) {
    this.#limits = limits;
    this.#program = program;
    this.#places = new FairQueue(limits.documentReaders, Math.max(1, limits.documentReaders - 1));
  }

  /**
   * What a file says, in passages. The format follows from the name's ending. Rejects with an `UnreadableDocument` whose
   * message goes on from the file's name: 'is empty'. Always ends, whatever the file holds.
   */
  async read(organizationId: string, name: string, source: FileSource): Promise<IndexedDocument> {
    formatOf(name);
    await this.#places.acquire(organizationId);
    try {
      return await this.#readNow({ name, source, limits: this.#limits });
    } finally {
      this.#places.release(organizationId);
    }
  }

  async #readNow(task: ReadingTask): Promise<IndexedDocument> {
    const child = this.#takeProcess();
    const outcome = await outcomeOf(child, task);
    if ('crash' in outcome) throw outcome.crash;
    if ('excess' in outcome) {
      child.kill('SIGKILL');
      throw new UnreadableDocument(outcome.excess);
    }
    this.#keepProcess(child);
    if ('fault' in outcome) throw new UnreadableDocument(outcome.fault);
    return outcome.document;
  }

  #takeProcess(): ChildProcess {
    if (this.#idle !== undefined) {
      const { child, timer } = this.#idle;
      this.#idle = undefined;
      clearTimeout(timer);
      if (child.connected) {
        child.ref();
        child.channel?.ref();
        return child;
      }
    }
    const child = fork(this.#program, {
      execArgv: [`--max-old-space-size=${this.#limits.documentReadMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Not the secrets of the service.
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    });
    // A process that is being ended may still fail to be told something, when nobody waits for it any more.
    child.on('error', () => {});
    try {
      if (child.pid !== undefined) setPriority(child.pid, niceness);
    } catch {
      // It has already ended; the caller learns of it from its result.
    }
    return child;
  }

  /** Neither the process nor its timer keeps the service alive. */
  #keepProcess(child: ChildProcess): void {
    if (this.#idle !== undefined) {
      child.kill('SIGKILL');
      return;
    }
    child.unref();
    child.channel?.unref();
    const timer = setTimeout(() => {
      this.#idle = undefined;
      child.kill('SIGKILL');
    }, idleMs).unref();
    this.#idle = { child, timer };
  }
}

type Outcome =
  | { readonly document: IndexedDocument }
  | { readonly fault: string }
  /** A fault of ours, not of the file. */
  | { readonly crash: Error }
  | { readonly excess: string };

function outcomeOf(child: ChildProcess, task: ReadingTask): Promise<Outcome> {
  const { documentReadMs, documentReadMb } = task.limits;
  const tooMuch = { excess: `takes more than ${documentReadMb} MB of memory to read` };
  return new Promise((resolve) => {
    const timer = setTimeout(settle, documentReadMs, {
      excess: `takes longer than ${documentReadMs / 1000} s to read`,
    });
    const watch = setInterval(async () => {
      // The heap has a limit of its own; what a parser unpacks lies beside it.
      if ((await residentMb(child)) > 2 * documentReadMb) settle(tooMuch);
    }, lookAtMemoryEveryMs);
    const passages: IndexedDocument['passages'][number][] = [];
    let read: Extract<ReadingAnswer, { head: unknown }> | undefined;
    function settle(outcome: Outcome): void {
      clearTimeout(timer);
      clearInterval(watch);
      child.off('message', hear).off('error', fail).off('exit', end);
      resolve(outcome);
    }
    function fail(cause: Error): void {
      settle({ crash: new Error('the process that reads files failed', { cause }) });
    }
    /** V8 aborts where the heap is full. The system kills where all memory is. */
    function end(code: number | null, signal: NodeJS.Signals | null): void {
      const isOutOfMemory = signal === 'SIGABRT' || signal === 'SIGKILL' || code === 134;
      settle(
        isOutOfMemory
          ? tooMuch
          : { crash: new Error(`the process that reads files ended (${signal ?? code})`) },
      );
    }
    function hear(answer: ReadingAnswer): void {
      if ('fault' in answer) {
        settle(answer);
        return;
      }
      if ('head' in answer) read = answer;
      else passages.push(...answer.part);
      if (read !== undefined && passages.length === read.passageCount) {
        settle({ document: { ...read.head, passages } });
      } else child.send('next');
    }
    child.on('message', hear).on('error', fail).on('exit', end);
    child.send(task);
  });
}

/** What the process has in memory; 0 where the system does not tell. */
async function residentMb({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}
