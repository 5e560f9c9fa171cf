import type { UserId } from '../../domain/id.ts';
import type { MembershipRow } from '../memberships.ts';
import { type Database, type Stored, withFlags } from './database.ts';

export const membershipColumns = `member.organization_id AS organizationId, organization.name AS organizationName,
  api_enabled AS apiEnabled, role, service, opened_at IS NOT NULL AS accepted, member.password_id AS acceptedWith`;

export type StoredMembership = Stored<MembershipRow>;

export function readMembership(row: StoredMembership): MembershipRow {
  return withFlags<MembershipRow>(row, 'apiEnabled', 'service', 'accepted');
}

/** In the order of joining. */
export function prepareListMemberships(database: Database): (userId: UserId) => MembershipRow[] {
  const list = database.prepare<[string], StoredMembership>(
    `SELECT ${membershipColumns} FROM member JOIN organization ON organization.id = organization_id
     WHERE user_id = ? ORDER BY joined_at, organization_id`,
  );
  return (userId) => list.all(userId).map(readMembership);
}
