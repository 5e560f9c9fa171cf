import { setImmediate as turn } from 'node:timers/promises';

/** How long other work may have to wait for a long draft. */
const stretchMs = 10;

/** Of work that others must not wait for. */
export class Pace {
  readonly #signal: AbortSignal;
  #turnedAt = performance.now();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is the others' turn: `if (pace.isDue()) await pace.turn();` */
  isDue(): boolean {
    return performance.now() - this.#turnedAt >= stretchMs;
  }

  /** Throws the signal's reason when it was aborted meanwhile. */
  async turn(): Promise<void> {
    await turn();
    this.#signal.throwIfAborted();
    this.#turnedAt = performance.now();
  }
}
