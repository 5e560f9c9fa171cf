import type { ApplicationId, OrganizationId } from './id.ts';

export const accessTokenSeconds = 3600;

/** The only scope: applications can read published threads (§5.5). */
export const accessTokenScope = 'threads:read';

/** The claims of an access token. */
export interface AccessClaims {
  readonly applicationId: ApplicationId;
  readonly organizationId: OrganizationId;
  /** The application's epoch when the token was issued. The store knows whether it is still current. */
  readonly epoch: number;
}

/** Issues and reads the access tokens of applications (RFC 9068). */
export interface AccessTokens {
  issue(claims: AccessClaims): Promise<string>;
  /** The claims of an unexpired token that this service issued. It does not check revocation. */
  read(token: string): Promise<AccessClaims | undefined>;
  /** The public keys for verifying tokens, as a JWK Set (RFC 7517). */
  keySet(): Promise<{ keys: object[] }>;
  /** Signs with a new key from now on. `forget`: invalidates every token signed with an older key. */
  rotateKey(forget: boolean): Promise<string>;
}
