/** The part of `AbortSignal` that is used here. Its type is not part of the language. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(event: 'abort', listener: () => void, options?: { once: true }): void;
  removeEventListener(event: 'abort', listener: () => void): void;
}

/** Hands out slots. Callers, each with a key, take turns: one with a thousand requests delays a request of another by one. */
export class FairQueue<Key> {
  /** The next key to serve comes first. */
  readonly #waiting = new Map<Key, (() => void)[]>();
  readonly #held = new Map<Key, number>();
  readonly #ofOneMax: number;
  #free: number;

  /** `ofOneMax`: how many slots one caller may hold, so that others need not wait for its work to end. */
  constructor(slots: number, ofOneMax = slots) {
    this.#free = slots;
    this.#ofOneMax = ofOneMax;
  }

  /** Resolves when the caller has a slot, which it must `release`. Rejects if `signal` aborts first. */
  acquire(key: Key, signal?: Signal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.take(key)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const take = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#remove(key, take);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      const waiting = this.#waiting.get(key);
      if (waiting === undefined) this.#waiting.set(key, [take]);
      else waiting.push(take);
    });
  }

  async run<T>(key: Key, work: () => Promise<T>, signal?: Signal): Promise<T> {
    await this.acquire(key, signal);
    try {
      return await work();
    } finally {
      this.release(key);
    }
  }

  waiting(key: Key): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  release(key: Key): void {
    this.#free += 1;
    const held = this.#held.get(key)! - 1;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
    for (const [next, waiting] of this.#waiting) {
      if (!this.take(next)) continue;
      const start = waiting.shift();
      this.#waiting.delete(next);
      if (waiting.length > 0) this.#waiting.set(next, waiting);
      start?.();
      return;
    }
  }

  take(key: Key): boolean {
    const held = this.#held.get(key) ?? 0;
    if (this.#free === 0 || held >= this.#ofOneMax) return false;
    this.#free -= 1;
    this.#held.set(key, held + 1);
    return true;
  }

  #remove(key: Key, take: () => void): void {
    const waiting = this.#waiting.get(key)!;
    waiting.splice(waiting.indexOf(take), 1);
    if (waiting.length === 0) this.#waiting.delete(key);
  }
}
