const minuteMs = 60_000;
/** The oldest entries are dropped first: memory is bounded, whatever an attacker sends. */
const rememberedMax = 10_000;

interface Failures {
  count: number;
  readonly since: number;
}

/** Counts failed authentication attempts by a key, for example a client and its address. */
export class FailedAttempts {
  readonly #now: () => number;
  readonly #failuresMax: number;
  readonly #windowMs: number;
  readonly #failures = new Map<string, Failures>();

  /** After `failuresMax` failures within the window, further attempts must wait. */
  constructor(now: () => number, failuresMax: number, windowMs = minuteMs) {
    this.#now = now;
    this.#failuresMax = failuresMax;
    this.#windowMs = windowMs;
  }

  /** Seconds until the next attempt is accepted; 0 if it is accepted now. */
  waitSeconds(key: string): number {
    const failures = this.#current(key);
    if (failures === undefined || failures.count < this.#failuresMax) return 0;
    return Math.ceil((failures.since + this.#windowMs - this.#now()) / 1000);
  }

  failed(key: string): void {
    const failures = this.#current(key);
    if (failures !== undefined) {
      failures.count += 1;
      return;
    }
    this.#failures.set(key, { count: 1, since: this.#now() });
    if (this.#failures.size > rememberedMax) this.#failures.delete(this.#failures.keys().next().value!);
  }

  /** Removes a failure that was counted in advance, so that concurrent attempts cannot exceed the limit. */
  takeBack(key: string): void {
    const failures = this.#current(key);
    if (failures !== undefined) failures.count -= 1;
  }

  #current(key: string): Failures | undefined {
    const failures = this.#failures.get(key);
    if (failures === undefined) return undefined;
    const age = this.#now() - failures.since;
    if (age >= 0 && age < this.#windowMs) return failures;
    this.#failures.delete(key);
    return undefined;
  }
}
