import type { UserPrincipal } from '../domain/principal.ts';
import type { Membership, Session } from '../storage/store.ts';

/** A person whose session is good. */
export interface SignedIn {
  readonly session: Session;
  readonly tokenHash: string;
}

/** A person in one of their organizations. */
export interface EnteredSession extends SignedIn {
  readonly membership: Membership;
  readonly principal: UserPrincipal;
}
