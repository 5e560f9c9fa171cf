import type { OperatorAuthority, PersonAuthority } from '../../domain/authority.ts';
import type { ApiKey, Application, KeyRequest } from '../../domain/credential.ts';
import type { ApplicationId, KeyId, KeyRequestId, OrganizationId, UserId } from '../../domain/id.ts';
import type { Principal } from '../../domain/principal.ts';
import type { AuditedMethod, AuditNote, InOrganization } from './log-store.ts';

/** The stored form of a new key's secret. */
export interface KeySecret extends Pick<ApiKey, 'id' | 'hint'> {
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string;
}

export type NewApiKey = KeySecret & Pick<ApiKey, 'name' | 'userId' | 'createdBy'>;

/** What a live key may do. */
export interface KeyGrant extends Pick<Principal, 'organizationId' | 'userId'> {
  readonly keyId: KeyId;
  readonly apiEnabled: boolean;
}

export interface CredentialName {
  readonly id: string;
  /** Or the hint, if the key has no name. */
  readonly name: string;
}

/**
 * A key is live until the store's time reaches `revokedAt`, which a rotation may set in the future. Revoked keys stay until
 * `Retention` removes them. Members' requests for keys expire by the store's clock and are removed with the membership.
 */
export interface ApiKeys {
  /** `not-a-member`: the owner is not, or is a person for whom the author may not create keys (`mayOwnKey`). */
  createApiKey: AuditedMethod<
    [key: NewApiKey],
    'created' | 'organization-missing' | 'api-disabled' | 'not-a-member' | 'too-many'
  >;
  /** Also `revoked` for a key that was already revoked. A key that would end later ends now. */
  revokeApiKey: AuditedMethod<[keyId: KeyId], 'revoked' | 'missing'>;
  /**
   * Creates a key with the name and owner of this one, which ends after `oldValidMs`. Also `revoked` for a key that was
   * already rotated, and `missing` if its owner is no longer a member. `too-many` only if the old key stays valid.
   */
  rotateApiKey: AuditedMethod<
    [
      keyId: KeyId,
      rotation: Pick<NewApiKey, 'createdBy'> & { readonly next: KeySecret; readonly oldValidMs: number },
    ],
    'rotated' | 'missing' | 'revoked' | 'api-disabled' | 'too-many'
  >;
  /** Live keys and the latest 200 revoked ones, in order of creation. */
  listApiKeys: InOrganization<[], ApiKey[]>;
  /** Also finds a revoked key. */
  findApiKey: InOrganization<[keyId: string], ApiKey | undefined>;
  /** Those that exist, in any order: keys, including revoked ones, and applications. */
  nameCredentials: InOrganization<[ids: readonly string[]], CredentialName[]>;
  /** Reads committed state every time: a revocation by another process takes effect with its commit. */
  findKeyGrant(hash: string): Promise<KeyGrant | undefined>;
  /** `too-many`: the member has `waitingMax` requests that are pending or approved. Removes those that have ended. */
  createKeyRequest: AuditedMethod<
    [request: Pick<KeyRequest, 'id' | 'name'> & Readonly<Record<'keepMs' | 'waitingMax', number>>],
    'created' | 'not-a-member' | 'api-disabled' | 'too-many',
    PersonAuthority
  >;
  /** In order of creation, without expired ones. */
  listKeyRequests: InOrganization<[], KeyRequest[]>;
  /** Also `missing` for a request that was already decided or has expired. */
  decideKeyRequest: AuditedMethod<
    [
      id: KeyRequestId,
      decision: { readonly state: 'approved' | 'declined'; readonly by: UserId; readonly keepMs: number },
    ],
    'decided' | 'missing'
  >;
  /** Creates the approved key and uses up the request. `missing` for anything but an approved request of this person. */
  redeemKeyRequest: AuditedMethod<
    [id: KeyRequestId, secret: KeySecret],
    'created' | 'missing' | 'api-disabled' | 'too-many',
    PersonAuthority
  >;
}

/** What a live application may do. */
export interface ApplicationGrant {
  readonly organizationId: OrganizationId;
  readonly secretHash: string;
  /** Tokens of another epoch are invalid. */
  readonly epoch: number;
  readonly apiEnabled: boolean;
}

export interface Applications {
  /** `secretHash`: SHA-256, in hexadecimal. */
  createApplication: AuditedMethod<
    [application: Pick<Application, 'id' | 'name'> & { readonly secretHash: string }],
    'created' | 'organization-missing' | 'api-disabled' | 'too-many'
  >;
  /** Ends every token issued under the old secret. */
  rotateApplication: AuditedMethod<
    [applicationId: ApplicationId, secretHash: string],
    'rotated' | 'missing' | 'api-disabled'
  >;
  /** Also ends its tokens. */
  deleteApplication: AuditedMethod<[applicationId: ApplicationId], 'deleted' | 'missing'>;
  /** In order of creation. */
  listApplications: InOrganization<[], Application[]>;
  /** Reads committed state every time: a rotation or deletion by another process takes effect with its commit. */
  findApplicationGrant(applicationId: string): Promise<ApplicationGrant | undefined>;
}

/** A key that signs access tokens. Tokens name its `id`. */
export interface SigningKey {
  readonly id: string;
  /** A JWK in JSON, private part included. */
  readonly privateJwk: string;
  /** When it stopped signing; null for the active key. */
  readonly retiredAt: number | null;
}

export type NewSigningKey = Omit<SigningKey, 'retiredAt'>;

export interface SigningKeys {
  /** Makes the candidate the active key unless there is one. Returns the active key, the same on every node. */
  keepSigningKey(candidate: NewSigningKey): Promise<SigningKey>;
  /**
   * Retires the active key and makes `next` the active one. `forget`: also removes retired keys and raises every
   * application's epoch by an unpredictable number, so that no token signed by them is valid any more. Each organization that
   * has applications gets the note.
   */
  rotateSigningKey(next: NewSigningKey, forget: boolean, note: AuditNote<OperatorAuthority>): Promise<void>;
  /** The active key, and those retired less than `verifyMs` ago, newest first. */
  listSigningKeys(verifyMs: number): Promise<SigningKey[]>;
}
