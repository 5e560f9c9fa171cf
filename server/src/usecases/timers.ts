/** The machine's monotonic clock, timers and random numbers. The simulation replaces them. */
export interface Timers {
  /** Milliseconds since some moment. Unlike the wall clock, it is never set. */
  steadyMs(): number;
  /** Calls back once after `ms`. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back every `ms` until it is cancelled by the returned function. */
  every(ms: number, callback: () => void): () => void;
  /** At least 0 and less than 1. */
  random(): number;
}

export const machineTimers: Timers = {
  steadyMs: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  every(ms, callback) {
    const timer = setInterval(callback, ms);
    return () => clearInterval(timer);
  },
  random: Math.random,
};

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
