import type { AccessTokens } from '../domain/access-token.ts';
import type { FailedAttempts } from '../domain/attempts.ts';
import type { CursorSeal } from '../domain/cursor.ts';
import type { IdGenerator } from '../domain/id.ts';
import type { Principal } from '../domain/principal.ts';
import type { Library } from '../generation/library.ts';
import type { Store } from '../storage/store.ts';
import type { ReplySignals } from './reply-signals.ts';
import type { Telemetry } from './telemetry.ts';

/** What every use case stands on. Clock, chance and hashing come from outside, so that the rules stay pure. */
export interface Context {
  readonly store: Store;
  readonly ids: IdGenerator;
  readonly cursorSeal: CursorSeal;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly crc32: (text: string) => number;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  /** Of two hashes in hexadecimal, in a time that does not depend on where they differ. */
  readonly equalHashes: (one: string, other: string) => boolean;
  readonly accessTokens: AccessTokens;
  readonly failedAttempts: FailedAttempts;
  /** By hash: whose a key is, of those that called lately. */
  readonly knownKeys: Map<string, Principal>;
  readonly settings: Settings;
  readonly replySignals: ReplySignals;
  readonly telemetry: Telemetry;
  readonly library: Library;
}

export interface Settings {
  readonly paginationWindow: number;
  readonly dailyQuota: number;
  readonly replyDeadlineMs: number;
}
