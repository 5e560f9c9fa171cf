import { sql, statement } from './sql.ts';

export const membershipColumns = sql`member.organization_id AS "organizationId",
  organization.name AS "organizationName", api_enabled AS "apiEnabled", role, service, opened_at IS NOT NULL AS accepted,
  member.password_id AS "acceptedWith"`;

/** In the order of joining. */
export const listMemberships = statement('list-memberships')`
  SELECT ${membershipColumns} FROM member JOIN organization ON organization.id = organization_id
  WHERE user_id = :userId ORDER BY joined_at, organization_id`;
