import { type Access, type MembershipFacts, standingOf } from '../../domain/account.ts';
import type { OrganizationId, PasswordId } from '../../domain/id.ts';
import type { MemberRole } from '../../domain/organization.ts';
import type { Membership, Memberships } from '../store.ts';

export interface MembershipRow {
  organization_id: OrganizationId;
  name: string;
  api_enabled: boolean;
  role: MemberRole;
  service: boolean;
  opened_at: number | null;
  accepted_with: PasswordId | null;
}

export const membershipColumns = `member.organization_id, organization.name, api_enabled, role, service, opened_at,
  member.password_id AS accepted_with`;

/** In order of joining. */
export const membershipsOf = {
  name: 'list-memberships',
  text: `SELECT ${membershipColumns} FROM member JOIN organization ON organization.id = organization_id
    WHERE user_id = $1 ORDER BY joined_at, organization_id`,
};

export function sortMemberships(access: Access, rows: readonly MembershipRow[]): Memberships {
  const having = (standing: string) =>
    rows.filter((row) => standingOf(access, factsOf(row)) === standing).map(toMembership);
  return { entered: having('entered'), pending: having('pending') };
}

/** Undefined where the session may not enter it. */
export function enteredMembership(access: Access, row: MembershipRow): Membership | undefined {
  return standingOf(access, factsOf(row)) === 'entered' ? toMembership(row) : undefined;
}

function factsOf({ service, opened_at, accepted_with }: MembershipRow): MembershipFacts {
  return { service, accepted: opened_at !== null, passwordId: accepted_with };
}

function toMembership(row: MembershipRow): Membership {
  return {
    organizationId: row.organization_id,
    organizationName: row.name,
    apiEnabled: row.api_enabled,
    role: row.role,
  };
}
