import { setBounded } from '../../../runtime/src/pure/set-bounded.ts';
import { rateLimited } from './errors.ts';
import { dayMs } from './time.ts';

const minuteMs = 60_000;
/** The oldest entries are dropped first: memory is bounded, whatever an attacker sends. */
const rememberedMax = 10_000;

interface Attempts {
  count: number;
  readonly since: number;
}

/** Counts attempts by a key: failed sign-ins of a client from an address, or changes that a person makes. */
export class AttemptLimit {
  readonly #now: () => number;
  readonly #attemptsMax: number;
  readonly #windowMs: number;
  readonly #attempts = new Map<string, Attempts>();

  /** After `attemptsMax` attempts within the window, further ones must wait. */
  constructor(now: () => number, attemptsMax: number, windowMs = minuteMs) {
    this.#now = now;
    this.#attemptsMax = attemptsMax;
    this.#windowMs = windowMs;
  }

  /** Seconds until the next attempt is accepted; 0 if it is accepted now. */
  waitSeconds(key: string): number {
    const attempts = this.#current(key);
    if (attempts === undefined || attempts.count < this.#attemptsMax) return 0;
    return Math.ceil((attempts.since + this.#windowMs - this.#now()) / 1000);
  }

  /** Counts an attempt, or throws RATE_LIMITED if it must wait. */
  admit(key: string, sentence: (waitSeconds: number) => string): void {
    const waitSeconds = this.waitSeconds(key);
    if (waitSeconds > 0) throw rateLimited(sentence(waitSeconds), waitSeconds);
    this.count(key);
  }

  /** Returns a function that takes the attempt back, without affecting those that are counted after the window. */
  count(key: string): () => void {
    const attempts = this.#current(key) ?? { count: 0, since: this.#now() };
    attempts.count += 1;
    setBounded(this.#attempts, key, attempts, rememberedMax);
    return () => {
      attempts.count -= 1;
    };
  }

  #current(key: string): Attempts | undefined {
    const attempts = this.#attempts.get(key);
    if (attempts === undefined) return undefined;
    const age = this.#now() - attempts.since;
    if (age >= 0 && age < this.#windowMs) return attempts;
    this.#attempts.delete(key);
    return undefined;
  }
}

interface FailedSignIn {
  readonly email: string;
  count: number;
  /** Counted up to a bound: the log says "at least". */
  readonly networks: Set<string>;
  traceId: string;
}

/** At most one note per person in this interval, even during a flood of failures. */
const noteEveryMs = 15 * 60_000;
/** A person chooses at most one password per organization. More than this in a day are guesses. */
const choicesPerDay = 3;
const peopleMax = 10_000;
const networksMax = 100;

/**
 * Counts failed sign-ins by the address that was tried, for the audit log: the first is due at once, later ones together.
 * They are written outside of requests, so that timing does not reveal which addresses exist.
 */
export class FailedSignIns {
  readonly #notes: AttemptLimit;
  readonly #choices: AttemptLimit;
  readonly #failures = new Map<string, FailedSignIn>();

  constructor(now: () => number) {
    this.#notes = new AttemptLimit(now, 1, noteEveryMs);
    this.#choices = new AttemptLimit(now, choicesPerDay, dayMs);
  }

  /** For a new password that matches none of the person's existing ones: counts as a failure only if it happens often. */
  countChoice(email: string, network: string, traceId: string): void {
    if (this.#choices.waitSeconds(email) > 0) this.count(email, network, traceId);
    else this.#choices.count(email);
  }

  count(email: string, network: string, traceId: string): void {
    const failed = this.#failures.get(email) ?? { email, count: 0, networks: new Set(), traceId };
    failed.count += 1;
    failed.traceId = traceId;
    if (failed.networks.size < networksMax) failed.networks.add(network);
    setBounded(this.#failures, email, failed, peopleMax);
  }

  /** Removes the counts that are due, or all. Call `giveBack` for one that could not be written. */
  take(all = false) {
    const due = [...this.#failures.values()].filter(
      ({ email }) => all || this.#notes.waitSeconds(email) === 0,
    );
    return due.map((failed) => {
      const { email, count, networks, traceId } = failed;
      this.#failures.delete(email);
      const takeBack = this.#notes.count(email);
      const giveBack = () => {
        takeBack();
        failed.count += this.#failures.get(email)?.count ?? 0;
        setBounded(this.#failures, email, failed, peopleMax);
      };
      return { email, count, networks: networks.size, traceId, giveBack };
    });
  }
}
