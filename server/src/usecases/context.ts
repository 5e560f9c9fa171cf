import type { Signals } from '../../../runtime/src/pure/signals.ts';
import type { Timers } from '../../../runtime/src/timers.ts';
import type { AttemptLimit, FailedSignIns } from '../domain/attempts.ts';
import type { AccessTokens } from '../domain/credential.ts';
import type { Seal } from '../domain/cursor.ts';
import type { Library } from '../domain/document.ts';
import type { Vocabulary } from '../domain/excerpt.ts';
import type { IdGenerator, OrganizationId, ThreadId } from '../domain/id.ts';
import type { Limits } from '../domain/limits.ts';
import type { Mailer } from '../domain/mail.ts';
import type { Principal, UserPrincipal } from '../domain/principal.ts';
import type { RetentionMs } from '../domain/retention.ts';
import type { IdentityProvider, KnownDevice } from '../domain/sign-in.ts';
import type { Telemetry, Tracing } from '../domain/telemetry.ts';
import type { ReplySignals } from '../replies/index.ts';
import type { Store } from '../storage/port/store.ts';
import type { RequestRecorder } from './organization/request-recorder.ts';
import type { FollowedThreads } from './threads/followed-threads.ts';

export interface Context {
  readonly store: Store;
  readonly ids: IdGenerator;
  readonly seal: Seal;
  readonly now: () => number;
  readonly timers: Timers;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly crc32: (text: string) => number;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  /** Compares two hexadecimal hashes in constant time. */
  readonly equalHashes: (one: string, other: string) => boolean;
  readonly accessTokens: AccessTokens;
  readonly failedAttempts: AttemptLimit;
  /** By the IP address of the caller. */
  readonly passwords: (address: string) => Passwords;
  readonly passwordAttempts: PasswordAttempts;
  readonly failedSignIns: FailedSignIns;
  /** Who asked for a password link since the last round, by address and known device. */
  readonly linkRequests: Map<string, LinkRequest>;
  /** Undefined if people sign in by password only. */
  readonly identityProvider: IdentityProvider | undefined;
  /** Undefined if mail is not configured: links are then shown to the person who created them. */
  readonly mailer: Mailer | undefined;
  readonly baseUrl: () => string;
  readonly limits: Limits;
  readonly retentionMs: RetentionMs;
  readonly replySignals: ReplySignals;
  readonly threadSignals: Signals<ThreadId>;
  readonly followedThreads: FollowedThreads;
  readonly telemetry: Telemetry;
  readonly tracing: Tracing;
  readonly recorder: RequestRecorder;
  readonly library: Library;
  readonly vocabulary: Vocabulary;
}

export interface LinkRequest {
  readonly email: string;
  readonly traceId: string;
  readonly device?: KnownDevice | undefined;
}

/** What a use case about an organization needs from its caller. Calls of commands and console routes have these fields. */
export interface OrganizationCall {
  readonly context: Context;
  readonly organizationId: OrganizationId;
}

/** What a use case needs from its caller. Calls of routes have these fields. */
export interface PrincipalCall {
  readonly context: Context;
  readonly principal: Principal;
}

/** The same, if only a user may call it. */
export interface PersonCall extends PrincipalCall {
  readonly principal: UserPrincipal;
}

/** Slow hashes, so that a stolen store does not reveal passwords. */
export interface Passwords {
  /** With the salt of `sibling`, another hash of the same person, so that comparing with both takes one computation. */
  hash(password: string, sibling?: string): Promise<string>;
  /** The hash that matches. An empty list takes as long as one hash, so that the time does not reveal who exists. */
  find(hashes: readonly string[], password: string): Promise<string | undefined>;
}

/** Passwords can be guessed, unlike other secrets here, so attempts are limited in several ways. */
interface PasswordAttempts {
  readonly ofPerson: AttemptLimit;
  readonly ofNetwork: AttemptLimit;
  /** By person, from all networks together. */
  readonly ofAccount: AttemptLimit;
  /** By known device, which may still try when the other limits are exhausted. */
  readonly ofDevice: AttemptLimit;
}
