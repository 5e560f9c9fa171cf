import { type Access, standingOf } from '../../domain/account.ts';
import type { OrganizationId, PasswordId } from '../../domain/id.ts';
import type { MemberRole } from '../../domain/organization.ts';
import type { Membership, Memberships } from '../store.ts';
import { sql, statement } from './sql.ts';

export interface MembershipRow {
  organizationId: OrganizationId;
  organizationName: string;
  apiEnabled: boolean;
  role: MemberRole;
  service: boolean;
  accepted: boolean;
  acceptedWith: PasswordId | null;
}

export const membershipColumns = sql`member.organization_id AS "organizationId",
  organization.name AS "organizationName", api_enabled AS "apiEnabled", role, service, opened_at IS NOT NULL AS accepted,
  member.password_id AS "acceptedWith"`;

/** In the order of joining. */
export const listMemberships = statement('list-memberships')`
  SELECT ${membershipColumns} FROM member JOIN organization ON organization.id = organization_id
  WHERE user_id = :userId ORDER BY joined_at, organization_id`;

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
