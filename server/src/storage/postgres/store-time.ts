import { sql } from '../sql/sql.ts';

/** The clocks that a node reads. Without a wall clock of its own it uses the database's, which all nodes share. */
export interface NodeClock {
  readonly wall?: () => number;
  /** Never goes backwards; its starting point does not matter. */
  steady(): number;
}

export const serverTime = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/**
 * The store's time, for which statements write `:now`. `Database` binds its two values. After the clock was set back, the
 * store's time advances at half speed until the clock has caught up, so that leases and deadlines still run out. It is a
 * subquery so that it is evaluated once and can be used to search an index.
 */
export const now = sql`(SELECT greatest(coalesce(:clockTime::bigint, ${serverTime}), :clockFloor::bigint))`;

export class StoreTime {
  readonly #clock: NodeClock;
  readonly steady: () => number;
  #seen: { time: number; steadyMs: number };

  constructor(clock: NodeClock) {
    this.#clock = clock;
    this.steady = () => clock.steady();
    this.#seen = { time: 0, steadyMs: clock.steady() };
  }

  values(): { readonly clockTime: number | null; readonly clockFloor: number } {
    const sinceMs = this.steady() - this.#seen.steadyMs;
    return {
      clockTime: this.#clock.wall?.() ?? null,
      clockFloor: this.#seen.time + Math.floor(sinceMs / 2),
    };
  }

  /** Records a time that the store has given out, so that it never gives out an earlier one. */
  see(time: number): void {
    if (time > this.#seen.time) this.#seen = { time, steadyMs: this.steady() };
  }
}
