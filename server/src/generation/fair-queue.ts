/**
 * Hands out a fixed number of places. Callers that have to wait are served one organization after the other, so that an
 * organization with a thousand requests delays another's single request by one.
 */
export class FairQueue<Key> {
  /** The next organization to be served comes first. */
  readonly #waiting = new Map<Key, (() => void)[]>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Resolves when the caller has a place, which it must `release`. Rejects when `signal` aborts first. */
  acquire(key: Key, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
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
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), take]);
    });
  }

  release(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#free += 1;
      return;
    }
    const [key, [take, ...rest]] = first;
    this.#waiting.delete(key);
    if (rest.length > 0) this.#waiting.set(key, rest);
    take?.();
  }

  #remove(key: Key, take: () => void): void {
    const rest = (this.#waiting.get(key) ?? []).filter((waiting) => waiting !== take);
    if (rest.length > 0) this.#waiting.set(key, rest);
    else this.#waiting.delete(key);
  }
}
