import type { WriteStream } from 'node:tty';

const width = 30;

/** A progress bar on standard error; prints nothing unless that is a terminal. */
export class ProgressBar {
  readonly #stream: WriteStream;

  constructor(stream: WriteStream = process.stderr) {
    this.#stream = stream;
  }

  show(done: number, total: number, doing: string): void {
    if (!this.#stream.isTTY || total <= 1) return;
    const filled = Math.floor((done / total) * width);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
    const text = `${bar} ${done}/${total} ${doing}`;
    this.#stream.write(`\r${text.slice(0, (this.#stream.columns || 80) - 1)}\u001b[K`);
  }

  /** Clears the line. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K');
  }
}
