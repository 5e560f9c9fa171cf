const minuteMs = 60_000;
/** The oldest are forgotten first: memory is bounded whatever an attacker makes up. */
const rememberedMax = 10_000;

interface Failures {
  count: number;
  readonly since: number;
}

/** Failed attempts to prove who one is, per whatever a caller counts by: a client and the address it came from, say. */
export class FailedAttempts {
  readonly #now: () => number;
  readonly #failuresMax: number;
  readonly #windowMs: number;
  readonly #failures = new Map<string, Failures>();

  /** `failuresMax` are let pass within the window before the next attempts are refused unheard. */
  constructor(now: () => number, failuresMax: number, windowMs = minuteMs) {
    this.#now = now;
    this.#failuresMax = failuresMax;
    this.#windowMs = windowMs;
  }

  /** Seconds until the next attempt is heard; 0 when it is now. */
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

  /** For an attempt that was counted before it was known to be right, so that many at once are not heard at once. */
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
