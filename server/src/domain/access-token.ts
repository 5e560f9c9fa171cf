import type { ApplicationId, OrganizationId } from './id.ts';

export const accessTokenSeconds = 3600;

/** The one scope there is: an application's principal reads what is published, and nothing else (§5.5). */
export const accessTokenScope = 'threads:read';

/** What a token says of its bearer. */
export interface AccessClaims {
  readonly applicationId: ApplicationId;
  readonly organizationId: OrganizationId;
  /** Of the application when the token was issued: whether it still is must be asked of the store. */
  readonly epoch: number;
}

/** Makes and reads the access tokens of applications (RFC 9068). */
export interface AccessTokens {
  issue(claims: AccessClaims): Promise<string>;
  /** The claims of a token that this service issued and that has not expired. Says nothing about revocation. */
  read(token: string): Promise<AccessClaims | undefined>;
  /** The public keys by which others can verify tokens: a JWK Set (RFC 7517). */
  keySet(): Promise<{ keys: object[] }>;
  /** Signs with a new key from now on. `forget`: nothing that an older one signed is good any more. */
  rotateKey(forget: boolean): Promise<string>;
}
