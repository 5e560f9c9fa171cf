import type { Authority } from './authority.ts';
import {
  type ApplicationId,
  encoded,
  type KeyId,
  type KeyRequestId,
  type OrganizationId,
  type UserId,
} from './id.ts';
import type { Member } from './organization.ts';
import { dayMs, hourMs } from './time.ts';

export const apiKeyPrefix = 'eak_';
const clientSecretPrefix = 'eas_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 30 characters of base 62 have 178 bits: a fast hash is enough to protect them. */
const secretLength = 30;
const checksumLength = 6;
const apiKeyPattern = new RegExp(`^${apiKeyPrefix}[0-9A-Za-z]{${secretLength + checksumLength}}$`);

/** An API key as it is listed: never the key itself. `userId` is null for an org-wide key. */
export interface ApiKey {
  readonly id: KeyId;
  readonly name: string;
  readonly userId: UserId | null;
  readonly hint: string;
  /** Null: the operator. */
  readonly createdBy: UserId | null;
  readonly createdAt: number;
  /** In the future after a rotation that keeps the old key valid for a while. */
  readonly revokedAt: number | null;
  /** To within a few seconds; null before the first request. */
  readonly lastUsedAt: number | null;
}

export function isLive({ revokedAt }: Pick<ApiKey, 'revokedAt'>, now: number): boolean {
  return revokedAt === null || revokedAt > now;
}

export const rotationGraces = { now: 0, '1h': hourMs, '24h': dayMs, '7d': 7 * dayMs } as const;
export type RotationGrace = keyof typeof rotationGraces;

export interface KeyRequest {
  readonly id: KeyRequestId;
  readonly userId: UserId;
  readonly name: string;
  /** `approved`: its owner can reveal the key, which creates it. */
  readonly state: 'pending' | 'approved' | 'declined';
  readonly requestedAt: number;
  readonly expiresAt: number;
}

/** A machine-to-machine application as it is listed: never its secret. */
export interface Application {
  /** Also its client ID. */
  readonly id: ApplicationId;
  readonly name: string;
  readonly createdAt: number;
  /** When its current secret was created; null for its first secret. */
  readonly rotatedAt: number | null;
  /** To within a few seconds; null before the first request. */
  readonly lastUsedAt: number | null;
}

export type RandomBytes = (size: number) => Uint8Array;
type Crc32 = (text: string) => number;

export function generateApiKey(randomBytes: RandomBytes, crc32: Crc32): string {
  return withChecksum(apiKeyPrefix + randomText(randomBytes, secretLength), crc32);
}

export function generateClientSecret(randomBytes: RandomBytes, crc32: Crc32): string {
  return withChecksum(clientSecretPrefix + randomText(randomBytes, secretLength), crc32);
}

export function randomText(randomBytes: RandomBytes, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte; larger bytes would favor the first characters.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62];
    }
  }
  return text;
}

/** Whether the text can be a key: rejects mistyped and truncated keys without asking the store. */
export function isWellFormedApiKey(text: string, crc32: Crc32): boolean {
  return apiKeyPattern.test(text) && withChecksum(text.slice(0, -checksumLength), crc32) === text;
}

/** `eak_abcd…wxyz`: enough to recognize a key in a list, too little to use it. */
export function apiKeyHint(key: string): string {
  return `${key.slice(0, apiKeyPrefix.length + 4)}…${key.slice(-4)}`;
}

function withChecksum(body: string, crc32: Crc32): string {
  return body + encoded(crc32(body), alphabet, checksumLength);
}

export const accessTokenSeconds = 3600;

/** The only scope: applications can read published threads (§5.5). */
export const accessTokenScope = 'threads:read';

export interface AccessClaims {
  readonly applicationId: ApplicationId;
  readonly organizationId: OrganizationId;
  /** The application's epoch when the token was issued. The store knows whether it is still current. */
  readonly epoch: number;
}

/** Issues and reads the access tokens of applications (RFC 9068). */
/** Whose keys: everyone's, or those of one user. */
export type KeyOwners = 'all' | UserId;

/**
 * A person's key can read all their threads, so only the operator, who can read everything anyway, may create one for
 * somebody else. Any admin may create keys for service accounts.
 */
export function mayOwnKey(authority: Authority, owner: Pick<Member, 'userId' | 'service'>): boolean {
  return authority.kind === 'operator' || owner.service || authority.userId === owner.userId;
}

export interface AccessTokens {
  issue(claims: AccessClaims): Promise<string>;
  /** The claims of an unexpired token that this service issued. It does not check revocation. */
  read(token: string): Promise<AccessClaims | undefined>;
  /** The public keys for verifying tokens, as a JWK Set (RFC 7517). */
  keySet(): Promise<{ keys: object[] }>;
  /** A key to sign with from now on, once the store has it. */
  newKey(): { readonly id: string; readonly privateJwk: string };
}
