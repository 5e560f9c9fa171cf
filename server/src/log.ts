import { write, writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { iso } from './domain/time.ts';
import type { AnsweredRequest } from './domain/traffic.ts';
import { terminalLine } from './terminal-log.ts';

/**
 * API keys, client secrets, invitations and access tokens, even after the letter of a JSON escape: `\neak_…`. In
 * `\u000eyJ…` the e belongs to the escape.
 */
const credentialInText =
  /(ea[ks]_)[0-9A-Za-z]{8,}|(inv_)[\w-]{8,}|(?<!(?<!\\)(?:\\\\)*\\u[0-9a-f]{3})eyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g;

export type Log = Logger & { request: (request: AnsweredRequest) => void };

/**
 * Writes lines to standard output: text on a terminal, JSON otherwise, in batches at least every tenth of a second.
 * Credentials are redacted from every line. `onDrop` is called for each line that is dropped because the output is blocked.
 */
export function createLog(level: string, onDrop: () => void = () => {}): Log {
  const output = new LogOutput(onDrop, (lines) =>
    log.warn({ lines }, 'dropped log lines while output was blocked'),
  );
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${iso(Date.now())}"`,
    redact: ['req.headers', 'headers', 'authorization', 'prompt', 'content', 'body'],
    hooks: { streamWrite: (line: string) => shown(line.replace(credentialInText, '$1$2[redacted]')) },
  };
  const log: Log = Object.assign(pino(options, output), { request: (_: AnsweredRequest) => {} });
  if (log.isLevelEnabled('info')) log.request = (request) => output.write(shown(requestLine(request)));
  return log;
}

const shown = process.stdout.isTTY ? terminalLine : (line: string) => line;

const infoLevel = 30;

/** As pino would write it, but faster. Ids, methods and route patterns contain nothing that must be escaped or redacted. */
function requestLine(request: AnsweredRequest): string {
  const { traceId, method, route, status, ms, organizationId, credentialId, personId } = request;
  let line = `{"level":${infoLevel},"time":"${iso(Date.now())}","trace_id":"${traceId}","method":"${method}",`;
  line += `"route":"${route}","status":${status},"ms":${Math.round(ms * 100) / 100}`;
  if (organizationId !== undefined) line += `,"organization":"${organizationId}"`;
  if (credentialId !== undefined) line += `,"credential":"${credentialId}"`;
  if (personId !== undefined) line += `,"person":"${personId}"`;
  return `${line},"msg":"request"}\n`;
}

const standardOutput = 1;
/** Lines are written once this many characters wait, or when the timer fires. */
const batchLength = 32 * 1024;
const flushEveryMs = 100;
/** A pipe holds 64 KiB: at this pace a reader that keeps up gets 6 MB a second. */
const fullPipeMs = 10;
/** The most that waits while the output is blocked. Further lines are dropped: a log must not fill the memory. */
const waitingLengthMax = 1024 * 1024;
/** How long the process waits for the reader of a full pipe when it exits. */
const exitWaitMs = 1000;

/**
 * Standard output as a destination that never throws, never blocks the event loop and never ends the process. An error
 * such as a full disk (ENOSPC) or a reader that is gone (EPIPE) may pass, so the write is repeated until it succeeds.
 * sonic-boom, pino's own destination, does not work here: on exit it repeats a failing write forever.
 */
class LogOutput {
  readonly #onDrop: () => void;
  readonly #onRecovery: (dropped: number) => void;
  #lines = '';
  /** The batch that is being written, or whose last write failed. */
  #batch: Buffer = Buffer.alloc(0);
  #writing = false;
  #failing = false;
  #dropped = 0;

  constructor(onDrop: () => void, onRecovery: (dropped: number) => void) {
    this.#onDrop = onDrop;
    this.#onRecovery = onRecovery;
    // Touching it makes a pipe non-blocking. A write that blocks in a thread would keep the process from exiting.
    process.stdout.on('error', () => {});
    // Node prints its warnings there.
    process.stderr.on('error', () => {});
    setInterval(() => this.flush(), flushEveryMs).unref();
    process.on('exit', () => this.#flushSync());
  }

  write(line: string): void {
    if (this.#batch.length + this.#lines.length + line.length > waitingLengthMax) {
      this.#dropped += 1;
      this.#onDrop();
      return;
    }
    this.#lines += line;
    if (this.#lines.length >= batchLength && !this.#failing) this.flush();
  }

  /** `log.flush()` calls it. */
  flush(): void {
    if (this.#writing || !this.#hasBatch()) return;
    this.#writing = true;
    write(standardOutput, this.#batch, (error, written) => {
      this.#writing = false;
      this.#failing = error !== null;
      if (error === null) this.#wrote(written);
      else if (error.code === 'EAGAIN') setTimeout(() => this.flush(), fullPipeMs).unref();
    });
  }

  /** The rest of a batch that was written in part goes first, so that no line is torn. */
  #wrote(written: number): void {
    this.#batch = this.#batch.subarray(written);
    if (this.#batch.length > 0 || this.#lines.length >= batchLength) return void this.flush();
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#onRecovery(dropped);
  }

  /** Takes the waiting lines once the batch before is written. */
  #hasBatch(): boolean {
    if (this.#batch.length === 0) {
      this.#batch = Buffer.from(this.#lines);
      this.#lines = '';
    }
    return this.#batch.length > 0;
  }

  /** Once, on exit. Waits for a slow reader, but not for long, and not at all for a full disk. */
  #flushSync(): void {
    // A thread still has the batch, and finishes before the process ends.
    if (this.#writing) this.#batch = Buffer.alloc(0);
    const until = Date.now() + exitWaitMs;
    while (this.#hasBatch()) {
      try {
        this.#batch = this.#batch.subarray(writeSync(standardOutput, this.#batch));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || Date.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeMs);
      }
    }
  }
}
