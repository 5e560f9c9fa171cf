import { type Access, standingOf } from '../domain/account.ts';
import type { PasswordId } from '../domain/id.ts';
import type { Membership, Memberships } from './store.ts';

/** A membership with the facts that decide whether a session may enter it. */
export interface MembershipRow extends Membership {
  readonly service: boolean;
  readonly accepted: boolean;
  readonly acceptedWith: PasswordId | null;
}

export function sortMemberships(access: Access, rows: readonly MembershipRow[]): Memberships {
  const having = (standing: string) =>
    rows.filter((row) => standingIn(access, row) === standing).map(toMembership);
  return { entered: having('entered'), pending: having('pending') };
}

/** Undefined if the session may not enter it. */
export function enteredMembership(access: Access, row: MembershipRow): Membership | undefined {
  return standingIn(access, row) === 'entered' ? toMembership(row) : undefined;
}

function standingIn(access: Access, { service, accepted, acceptedWith }: MembershipRow) {
  return standingOf(access, { service, accepted, passwordId: acceptedWith });
}

function toMembership({ organizationId, organizationName, apiEnabled, role }: MembershipRow): Membership {
  return { organizationId, organizationName, apiEnabled, role };
}
