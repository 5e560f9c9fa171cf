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
