import type { OrganizationId, UserId } from './id.ts';

/** The person (or service account) a personal key acts for. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
}

/** The one service identity that org-wide keys and applications share (§5.2). */
export interface ServicePrincipal {
  readonly kind: 'service';
  readonly organizationId: OrganizationId;
}

export type Principal = UserPrincipal | ServicePrincipal;
