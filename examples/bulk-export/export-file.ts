import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';

/** How far the export has come: what is in the file, and where the next page starts. */
interface State {
  readonly cursor?: string;
  readonly bytes: number;
  readonly count: number;
}

/**
 * A file of JSON lines that grows page by page. `FILE.state` says how much of it is complete: if the program is killed, the
 * next run truncates the file to that length and continues with the next page. Each thread is in the file once.
 */
export class ExportFile {
  readonly #name: string;
  readonly #file: number;
  #state: State;

  private constructor(name: string, file: number, state: State) {
    this.#name = name;
    this.#file = file;
    this.#state = state;
  }

  /** Whether an earlier run has finished the file. */
  static isComplete(name: string): boolean {
    return existsSync(name) && !existsSync(`${name}.state`);
  }

  static open(name: string): ExportFile {
    if (!existsSync(`${name}.state`)) saveState(name, { bytes: 0, count: 0 });
    const state: State = JSON.parse(readFileSync(`${name}.state`, 'utf8'));
    const file = openSync(name, existsSync(name) ? 'r+' : 'wx');
    ftruncateSync(file, state.bytes);
    return new ExportFile(name, file, state);
  }

  /** Undefined before the first page. */
  get cursor(): string | undefined {
    return this.#state.cursor;
  }

  get count(): number {
    return this.#state.count;
  }

  append(lines: readonly string[], nextCursor: string | null): void {
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    let written = 0;
    while (written < bytes.length) {
      written += writeSync(this.#file, bytes, written, bytes.length - written, this.#state.bytes + written);
    }
    fsyncSync(this.#file);
    this.#state = {
      ...(nextCursor !== null && { cursor: nextCursor }),
      bytes: this.#state.bytes + bytes.length,
      count: this.#state.count + lines.length,
    };
    // Not saved after the last page: `finish` removes the state, or the next run reads that page again.
    if (nextCursor !== null) saveState(this.#name, this.#state);
  }

  finish(): void {
    closeSync(this.#file);
    rmSync(`${this.#name}.state`, { force: true });
  }
}

/** Replaces the file in one step, so that it is never half written. */
function saveState(name: string, state: State): void {
  writeFileSync(`${name}.state.new`, JSON.stringify(state));
  renameSync(`${name}.state.new`, `${name}.state`);
}
