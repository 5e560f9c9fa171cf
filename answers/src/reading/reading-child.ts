import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { orUndefined } from '../../../runtime/src/pure/or-undefined.ts';
import type { IndexedDocument } from '../port/documents.ts';
import type { DocumentFile } from './document-file.ts';
import type { ReadingLimits } from './reading-limits.ts';
import { readingFlags } from './reading-permissions.ts';
import { UnreadableDocument } from './unreadable-document.ts';

/** The bytes of the file, `size` of them, follow the task. */
export interface ReadingTask {
  readonly name: string;
  readonly size: number;
  readonly limits: ReadingLimits;
}

/** Each answer is a line of JSON with some passages, so that none blocks the event loop. The last has the `head`. */
export type ReadingResult =
  | { readonly fault: string }
  | { readonly part: IndexedDocument['passages']; readonly head?: Omit<IndexedDocument, 'passages'> };

const processProgram = fileURLToPath(new URL('./reading-process.ts', import.meta.url));

/** Requests take precedence over reading when processors are busy. */
const niceness = 10;

/** Answers repeat the words of passages as terms. No document's answers have this many bytes per character that it may store. */
const answerBytesPerCharacter = 20;

/**
 * A process that reads files, one after the other. A hostile file may take over its parser, so the process gets no more than
 * the bytes of files, and nothing that it writes is trusted. That is why Node's own channel between processes is not used:
 * a malformed message in it is an uncaught exception of the service.
 */
export class ReadingChild {
  readonly #child: ChildProcess;
  readonly #input: Socket;
  readonly #output: Socket;
  readonly #limits: ReadingLimits;

  private constructor(child: ChildProcess, limits: ReadingLimits) {
    this.#child = child;
    // Standard streams that are pipes are sockets, too.
    this.#input = child.stdin as Socket;
    this.#output = child.stdio[3] as Socket;
    this.#limits = limits;
    // A process that ends closes both. What it was asked for then fails, with the reason.
    for (const emitter of [child, this.#input, this.#output]) emitter.on('error', () => {});
  }

  /** `program`: what the thread of the parsers runs. */
  static async start(limits: ReadingLimits, program: URL): Promise<ReadingChild> {
    const { documentReadMb } = limits;
    // The heap has its own limit, but what a parser unpacks is outside the heap.
    const words = [process.pid, documentReadMb, 2 * documentReadMb, program.href].map(String);
    const child = spawn(process.execPath, [...readingFlags(), processProgram, ...words], {
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
      // The folder of the service may have been removed, for example by a deployment. Node.js cannot start there.
      cwd: import.meta.dirname,
      // In a process group of its own: Ctrl-C stops the service, which first finishes the files that it is reading.
      detached: true,
      // Neither the secrets of the service nor NODE_OPTIONS, which could lift the restrictions.
      env: {},
    });
    // Rejects if no process can be started, for example because no file descriptor is free.
    await once(child, 'spawn').catch(failed);
    // If the process has already exited, `read` reports it.
    orUndefined(() => setPriority(child.pid!, niceness));
    return new ReadingChild(child, limits);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  ref(): void {
    for (const handle of [this.#child, this.#input, this.#output]) handle.ref();
  }

  /** The process no longer keeps the service alive. */
  unref(): void {
    for (const handle of [this.#child, this.#input, this.#output]) handle.unref();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Rejects if the process exits or exceeds its time or memory. The caller must then kill it. */
  async read(name: string, file: DocumentFile): Promise<IndexedDocument | { fault: string }> {
    const { documentReadMs } = this.#limits;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.kill();
      this.#input.destroy();
      this.#output.destroy();
    }, documentReadMs);
    try {
      await this.#send(name, file);
      const answer = await this.#receive();
      if (answer !== undefined) return answer;
      if (this.isRunning) await once(this.#child, 'exit');
    } catch (error) {
      if (!isLate) throw error instanceof UnreadableDocument ? error : failed(error);
    } finally {
      clearTimeout(timer);
    }
    if (isLate) throw new UnreadableDocument(`takes longer than ${documentReadMs / 1000} s to read`);
    throw this.#reasonOfExit();
  }

  /** A process that ends before it has everything is no failure here: its exit says more. */
  async #send(name: string, file: DocumentFile): Promise<void> {
    const task: ReadingTask = { name, size: file.size, limits: this.#limits };
    for await (const chunk of framed(task, file)) {
      const error = await new Promise((resolve) => this.#input.write(chunk, resolve));
      if (error) return;
    }
  }

  /** Undefined if the process ends before its last answer. */
  async #receive(): Promise<IndexedDocument | { fault: string } | undefined> {
    const passages = [];
    for await (const line of readLines(
      this.#output,
      answerBytesPerCharacter * this.#limits.documentLengthMax,
    )) {
      const answer: ReadingResult = JSON.parse(line);
      if ('fault' in answer) return answer;
      passages.push(...answer.part);
      if (answer.head !== undefined) return { ...answer.head, passages };
    }
    return undefined;
  }

  #reasonOfExit(): Error {
    const { exitCode, signalCode } = this.#child;
    // V8 aborts when its heap is full, and traps if the system refuses it memory. The process sends itself SIGUSR2.
    if (['SIGABRT', 'SIGTRAP', 'SIGUSR2'].includes(signalCode ?? '') || exitCode === 134)
      return new UnreadableDocument(`takes more than ${this.#limits.documentReadMb} MB of memory to read`);
    // When the machine runs out of memory, the system may choose this process, however little the file needs.
    if (signalCode === 'SIGKILL')
      return new UnreadableDocument(
        'could not be read: its process was killed, probably because the machine ran out of memory. Try again',
      );
    return new Error(`the process that reads files ended (${signalCode ?? exitCode})`);
  }
}

function failed(cause: unknown): never {
  throw new Error('the process that reads files failed', { cause });
}

async function* framed(task: ReadingTask, file: DocumentFile): AsyncGenerator<Uint8Array> {
  const json = Buffer.from(JSON.stringify(task));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  yield Buffer.concat([length, json]);
  yield* file.chunks();
}

async function* readLines(output: Readable, bytesMax: number): AsyncGenerator<string> {
  let bytes = 0;
  let line: Buffer[] = [];
  for await (const chunk of output.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new RangeError(`it answers with more than ${bytesMax} bytes`);
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      yield Buffer.concat([...line, chunk.subarray(start, end)]).toString();
      line = [];
      start = end + 1;
    }
    line.push(chunk.subarray(start));
  }
}
