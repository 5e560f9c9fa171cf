export interface StoreClocks {
  /** May be set forward or back at any time. */
  wall(): number;
  /** Never set. */
  steady(): number;
}

/**
 * Dates every row and never runs backwards. After the wall clock was set back it runs at half speed until the wall clock
 * has caught up.
 */
export class StoreClock {
  readonly #clocks: StoreClocks;
  #committed = 0;
  #committedAtMs = 0;

  constructor(clocks: StoreClocks) {
    this.#clocks = clocks;
  }

  /** For a read. */
  peek(): number {
    const wall = this.#clocks.wall();
    if (wall >= this.#committed) return wall;
    const sinceMs = this.#clocks.steady() - this.#committedAtMs;
    return this.#committed + Math.max(1, Math.floor(sinceMs / 2));
  }

  /** For a write. */
  now(): number {
    return this.#commit(this.peek());
  }

  /** Later than every time in earlier commits, and than `time`. */
  after(time = 0): number {
    return this.#commit(Math.max(this.peek(), this.#committed + 1, time + 1));
  }

  aheadMs(): number {
    return Math.max(0, this.#committed - this.#clocks.wall());
  }

  #commit(time: number): number {
    if (time !== this.#committed) {
      this.#committed = time;
      this.#committedAtMs = this.#clocks.steady();
    }
    return time;
  }
}
