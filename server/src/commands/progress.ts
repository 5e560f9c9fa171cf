import type { WriteStream } from 'node:tty';

const width = 30;

/** A progress bar on standard error; prints nothing unless that is a terminal. */
export class ProgressBar {
  readonly #terminal: WriteStream | undefined;
  readonly #total: number;
  #done = 0;

  constructor(total: number, stream: WriteStream = process.stderr) {
    this.#total = total;
    this.#terminal = stream.isTTY && total > 1 ? stream : undefined;
  }

  show(doing: string): void {
    if (this.#terminal === undefined) return;
    const filled = Math.floor((this.#done / this.#total) * width);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
    const text = `${bar} ${this.#done}/${this.#total} ${doing}`;
    this.#terminal.write(`\r${text.slice(0, (this.#terminal.columns || 80) - 1)}\u001b[K`);
  }

  advance(by = 1): void {
    this.#done += by;
  }

  /** Clears the line. */
  clear(): void {
    this.#terminal?.write('\r\u001b[K');
  }
}
