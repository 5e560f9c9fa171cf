import type { OrganizationId, UserId } from './id.ts';

/** The person (or service account) a personal key acts for. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  /**
   * SHA-256 of the personal key, in hexadecimal, which every write checks again in its own transaction. Null for a
   * person in the console, whose session is checked once the body has arrived.
   */
  readonly keyHash: string | null;
}

/** The one service identity that org-wide keys and applications share (§5.2). */
export interface ServicePrincipal {
  readonly kind: 'service';
  readonly organizationId: OrganizationId;
}

export type Principal = UserPrincipal | ServicePrincipal;
