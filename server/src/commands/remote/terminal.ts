import type { ReadStream, WriteStream } from 'node:tty';
import { printable } from '../output.ts';

/** The input and output of a command, a terminal or a pipe. `process` implements it. */
export interface Terminal {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** Whether a status line can be shown and removed. */
function isLive({ stdout, stderr, env }: Terminal): boolean {
  return stdout.isTTY === true && stderr.isTTY === true && env.TERM !== 'dumb';
}

/** Replaces control characters, which a terminal would obey, except newlines and tabs. */
export function shown(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[^\P{Cc}\n\t]/gu, '\uFFFD');
}

/** Shows the steps of a running reply. */
export interface StepsView {
  /** Undefined if steps are not shown: the client then polls less often. */
  readonly onStep: ((step: { readonly description: string }) => void) | undefined;
  end(): void;
}

/** A status line on a terminal; with `verbose`, one line per step on any output. */
export function viewSteps(terminal: Terminal, verbose: boolean): StepsView {
  if (verbose) {
    const onStep = ({ description }: { description: string }) => {
      terminal.stderr.write(`${printable(description)}\n`);
    };
    return { onStep, end: () => {} };
  }
  if (!isLive(terminal)) return { onStep: undefined, end: () => {} };
  const line = new LiveLine(terminal.stderr, 'Waiting for the reply');
  return { onStep: ({ description }) => line.show(description), end: () => line.end() };
}

const eraseRest = '\u001b[K';
/** Some characters are two columns wide: without wrapping, the terminal cuts the line at its edge. */
const noWrap = '\u001b[?7l';
const wrap = '\u001b[?7h';

/** A status line with the elapsed time, which is removed at the end. */
export class LiveLine {
  readonly #stream: WriteStream;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #timer: NodeJS.Timeout;
  #doing: string;

  constructor(stream: WriteStream, doing: string, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
    this.#startedAt = now();
    this.#doing = doing;
    this.#timer = setInterval(() => this.#draw(), 1000);
    this.#draw();
  }

  show(doing: string): void {
    this.#doing = doing;
    this.#draw();
  }

  /** Clears the line. */
  end(): void {
    clearInterval(this.#timer);
    this.#stream.write(`\r${eraseRest}`);
  }

  #draw(): void {
    const text = `${elapsed(this.#now() - this.#startedAt)}  ${printable(this.#doing)}`;
    const fitting = text.slice(0, (this.#stream.columns || 80) - 1);
    this.#stream.write(`\r${noWrap}${fitting}${eraseRest}${wrap}`);
  }
}

/** `7 s`, `2 min 7 s`. */
function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
