import type { ApiKey, KeyRequest, KeyRequestId } from '../domain/credential.ts';
import type { KeyId, OrganizationId, UserId } from '../domain/id.ts';
import type { AuditNote } from './audit-store.ts';

/** The secret part of a key that is being made, as it is kept. */
export interface KeySecret {
  readonly id: KeyId;
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string;
  readonly hint: string;
}

export interface NewApiKey extends KeySecret {
  readonly name: string;
  readonly userId: UserId | null;
  /** Null: the operator. */
  readonly createdBy: UserId | null;
}

/** What a live key stands for, and whether its organization is in the beta now. */
export interface KeyGrant {
  readonly organizationId: OrganizationId;
  readonly keyId: KeyId;
  readonly userId: UserId | null;
  readonly apiEnabled: boolean;
}

/** A key is live until the store's time reaches `revokedAt`, which a rotation may set ahead. */
export interface ApiKeys {
  /** Refused, in the same transaction, outside the beta and for a user who is not a member. */
  createApiKey(
    organizationId: OrganizationId,
    key: NewApiKey,
    note: AuditNote,
  ): Promise<'created' | 'organization-missing' | 'api-disabled' | 'not-a-member'>;
  /** Revoking a revoked key changes nothing and is `revoked` again. One that was to end later ends now. */
  revokeApiKey(organizationId: OrganizationId, keyId: KeyId, note: AuditNote): Promise<'revoked' | 'missing'>;
  /**
   * A new key with the name and the owner of this one, which ends after `oldValidMs`. Together. `revoked` also for a key
   * that was rotated before, `missing` also where its owner is no member any more. Refused outside the beta.
   */
  rotateApiKey(
    organizationId: OrganizationId,
    keyId: KeyId,
    rotation: {
      readonly next: KeySecret;
      readonly createdBy: UserId | null;
      readonly oldValidMs: number;
    },
    note: AuditNote,
  ): Promise<'rotated' | 'missing' | 'revoked' | 'api-disabled'>;
  /** In order of creation, revoked ones included. */
  listApiKeys(organizationId: OrganizationId): Promise<ApiKey[]>;
  /** Also finds a revoked key. */
  findApiKey(organizationId: OrganizationId, keyId: string): Promise<ApiKey | undefined>;
  /** Reads committed state every time: a key revoked by another process is unknown from that commit on. */
  findKeyGrant(hash: string): Promise<KeyGrant | undefined>;
}

/** What members ask for. Requests expire by the store's clock, and go with their membership. */
export interface KeyRequests {
  /** `too-many`: the member has `waitingMax` requests that are pending or approved. Refused outside the beta. */
  createKeyRequest(
    organizationId: OrganizationId,
    request: {
      readonly id: KeyRequestId;
      readonly userId: UserId;
      readonly name: string;
      readonly keepMs: number;
      readonly waitingMax: number;
    },
    note: AuditNote,
  ): Promise<'created' | 'not-a-member' | 'api-disabled' | 'too-many'>;
  /** In order of creation, without expired ones. */
  listKeyRequests(organizationId: OrganizationId): Promise<KeyRequest[]>;
  /** Once. `missing` also for one that was decided or has expired. */
  decideKeyRequest(
    organizationId: OrganizationId,
    id: KeyRequestId,
    decision: { readonly state: 'approved' | 'declined'; readonly by: UserId; readonly keepMs: number },
    note: AuditNote,
  ): Promise<'decided' | 'missing'>;
  /**
   * Makes the key that was approved, for this user only, and uses the request up. `missing` for everything that is not an
   * approved request of theirs. Refused outside the beta.
   */
  redeemKeyRequest(
    organizationId: OrganizationId,
    id: KeyRequestId,
    userId: UserId,
    secret: KeySecret,
    note: AuditNote,
  ): Promise<'created' | 'missing' | 'api-disabled'>;
}
