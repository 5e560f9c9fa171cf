import type { WriteStream } from 'node:tty';
import { printable } from '../command.ts';

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
