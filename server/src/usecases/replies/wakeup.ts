import type { Timers } from '../timers.ts';

/** Remembers that it was called until somebody waits for it. */
export class Wakeup {
  readonly #until: AbortSignal;
  readonly #timers: Timers;
  #isPending = false;
  #resume = () => {};

  constructor(until: AbortSignal, timers: Timers) {
    this.#until = until;
    this.#timers = timers;
  }

  readonly wake = (): void => {
    this.#isPending = true;
    this.#resume();
  };

  /** Resolves when `wake` was called since the last wait, after `ms`, or when `until` aborts. */
  async wait(ms?: number): Promise<void> {
    if (!this.#isPending) await this.#sleep(ms, true);
    this.#isPending = false;
  }

  /** Resolves after `ms`, or when `until` aborts. */
  pause(ms: number): Promise<void> {
    return this.#sleep(ms, false);
  }

  #sleep(ms: number | undefined, canWake: boolean): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancelTimer();
        this.#until.removeEventListener('abort', done);
        this.#resume = () => {};
        resolve();
      };
      const cancelTimer = ms === undefined ? () => {} : this.#timers.after(ms, done);
      this.#until.addEventListener('abort', done);
      if (canWake) this.#resume = done;
      if (this.#until.aborted) done();
    });
  }
}
