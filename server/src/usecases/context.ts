import type { AccessTokens } from '../domain/access-token.ts';
import type { FailedAttempts } from '../domain/attempts.ts';
import type { Seal } from '../domain/cursor.ts';
import type { FailedSignIns } from '../domain/failed-sign-ins.ts';
import type { IdGenerator, ThreadId, UserId } from '../domain/id.ts';
import type { IdentityProvider } from '../domain/identity-provider.ts';
import type { Library } from '../domain/library.ts';
import type { Limits } from '../domain/limits.ts';
import type { Principal } from '../domain/principal.ts';
import type { Kept } from '../domain/retention.ts';
import type { Store } from '../storage/store.ts';
import type { ChangeSignals } from './change-signals.ts';
import type { UsageCounter } from './organization/usage-counter.ts';
import type { ReplySignals } from './replies/reply-signals.ts';
import type { Telemetry } from './telemetry.ts';
import type { FollowedThreads } from './threads/followed-threads.ts';

/** What every use case stands on. Clock, chance and hashing come from outside, so that the rules stay pure. */
export interface Context {
  readonly store: Store;
  readonly ids: IdGenerator;
  readonly seal: Seal;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly crc32: (text: string) => number;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  /** Of two hashes in hexadecimal, in a time that does not depend on where they differ. */
  readonly equalHashes: (one: string, other: string) => boolean;
  readonly accessTokens: AccessTokens;
  readonly failedAttempts: FailedAttempts;
  readonly passwords: Passwords;
  readonly passwordAttempts: PasswordAttempts;
  readonly failedSignIns: FailedSignIns;
  /** Undefined where people sign in by password alone. */
  readonly identityProvider: IdentityProvider | undefined;
  /** By hash: whose a key is, of those that called lately. */
  readonly knownKeys: Map<string, Principal>;
  readonly limits: Limits;
  /** For how long what retention removes is kept. */
  readonly kept: Kept;
  readonly replySignals: ReplySignals;
  readonly threadSignals: ChangeSignals<ThreadId>;
  /** By person: their sessions or memberships have ended. */
  readonly sessionSignals: ChangeSignals<UserId>;
  readonly followedThreads: FollowedThreads;
  readonly telemetry: Telemetry;
  readonly usage: UsageCounter;
  readonly library: Library;
}

/** Hashes that are slow to make, so that a stolen store does not give passwords away. */
export interface Passwords {
  /** With the salt of `sibling`, another hash of the same person: comparing with both then takes one computation. */
  hash(password: string, sibling?: string): Promise<string>;
  /**
   * Which of a person's hashes the password belongs to. Hashes with one salt take the time of one, and so does none at
   * all: the time does not tell whether there is such a person.
   */
  find(hashes: readonly string[], password: string): Promise<string | undefined>;
}

/** Passwords can be guessed, unlike other secrets here: attempts are counted in several ways. */
export interface PasswordAttempts {
  /** By person and place. */
  readonly ofPerson: FailedAttempts;
  readonly ofPlace: FailedAttempts;
  /** By person, from all places together. */
  readonly ofAccount: FailedAttempts;
  /** By known device, which is let through where the others are used up. */
  readonly ofDevice: FailedAttempts;
}
