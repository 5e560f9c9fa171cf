/** The machine's monotonic clock, timers and random numbers. The simulation replaces them. */
export interface Timers {
  /** Milliseconds since an arbitrary moment. Unlike the wall clock, it is never adjusted. */
  steadyMs(): number;
  /** Calls back once after `ms`. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back every `ms`. Returns a function that cancels it. */
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

/** A wake-up that is remembered until somebody waits for it. All waits end when `until` aborts. */
export function createWakeup(until: AbortSignal, timers: Timers) {
  let isPending = false;
  let resume = () => {};

  function sleep(ms: number | undefined, canWake: boolean): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancelTimer();
        until.removeEventListener('abort', done);
        resume = () => {};
        resolve();
      };
      const cancelTimer = ms === undefined ? () => {} : timers.after(ms, done);
      until.addEventListener('abort', done);
      if (canWake) resume = done;
      if (until.aborted) done();
    });
  }

  return {
    wake(): void {
      isPending = true;
      resume();
    },
    /** Resolves when `wake` was called since the last wait, or after `ms`. */
    async wait(ms?: number): Promise<void> {
      if (!isPending) await sleep(ms, true);
      isPending = false;
    },
    pause: (ms: number) => sleep(ms, false),
  };
}
