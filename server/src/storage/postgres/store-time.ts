/** The clocks that a node reads. Without a wall clock of its own the database's counts: all nodes then share one. */
export interface NodeClock {
  readonly wall?: () => number;
  /** Only ever runs on; from where does not matter. */
  steady(): number;
}

export const serverTime = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * The first two parameters of every statement that dates something, and the time they make. Where the clock has been set
 * back, the store's time goes at half its pace until the clock has caught up: leases and deadlines still run out, and
 * the two meet again. In a SELECT of its own, so that it is asked for once and an index can be searched by it.
 */
export const now = nowText('$1', '$2');

/** The same where the two parameters stand elsewhere. */
export function nowText(wall: string, floor: string): string {
  return `(SELECT greatest(coalesce(${wall}::bigint, ${serverTime}), ${floor}::bigint))`;
}

export class StoreTime {
  readonly #clock: NodeClock;
  #seen: { time: number; steadyMs: number };

  constructor(clock: NodeClock) {
    this.#clock = clock;
    this.#seen = { time: 0, steadyMs: clock.steady() };
  }

  parameters(): [wall: number | null, floor: number] {
    const sinceMs = this.#clock.steady() - this.#seen.steadyMs;
    return [this.#clock.wall?.() ?? null, this.#seen.time + Math.floor(sinceMs / 2)];
  }

  steady(): number {
    return this.#clock.steady();
  }

  /** A time that the store has given out: none earlier follows. */
  see(time: number): void {
    if (time > this.#seen.time) this.#seen = { time, steadyMs: this.#clock.steady() };
  }
}
