import type { OrganizationId } from '../../domain/id.ts';
import type { MemberRole } from '../../domain/organization.ts';
import type { Membership } from '../store.ts';

export interface MembershipRow {
  organization_id: OrganizationId;
  name: string;
  api_enabled: number;
  role: MemberRole;
}

export const membershipColumns = 'member.organization_id, organization.name, api_enabled, role';

/** Whether a session of this proof enters the membership. */
export const mayEnter = (proof: string) => `service = 0 AND (${proof} = 'sso' OR opened_at IS NOT NULL)`;

export function toMembership(row: MembershipRow): Membership {
  return {
    organizationId: row.organization_id,
    organizationName: row.name,
    apiEnabled: row.api_enabled === 1,
    role: row.role,
  };
}
