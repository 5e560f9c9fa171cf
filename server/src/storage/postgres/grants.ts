import { keyIsLive } from '../sql/authority.ts';
import { columnName, type Sql, sql } from '../sql/sql.ts';

interface Checked {
  readonly organizationId: Sql;
  readonly apiEnabled: Sql;
  /** The value of `authorityValues` with this name. */
  readonly value: (name: 'userId' | 'keyHash' | 'sessionHash' | 'sessionOrganization' | 'role') => Sql;
}

/**
 * A condition: the authority holds. It does what `isAuthorized` in `sql/authority.ts` does, within a statement, so that the
 * organization's row is not locked during a round trip. Whatever it reads is read as last committed, after the wait for the
 * organization's row, and locked until the commit. A test compares the two for every kind of session.
 */
export function isGranted({ organizationId, apiEnabled, value }: Checked): Sql {
  const [userId, role] = [value('userId'), value('role')];
  return sql`CASE
        WHEN ${value('keyHash')} IS NOT NULL THEN ${apiEnabled} AND EXISTS (
          SELECT FROM api_key WHERE hash = ${value('keyHash')} AND organization_id = ${organizationId}
            AND user_id = ${userId} AND ${keyIsLive} FOR SHARE)
        WHEN ${value('sessionHash')} IS NULL THEN true
        WHEN ${value('sessionOrganization')} IS DISTINCT FROM ${organizationId} THEN false
        WHEN EXISTS (SELECT FROM "user" WHERE "user".id = ${userId} FOR SHARE) THEN EXISTS (
          SELECT FROM session JOIN member ON member.user_id = session.user_id
          WHERE session.token_hash = ${value('sessionHash')} AND session.user_id = ${userId} AND session.expires_at > :now
            AND member.organization_id = ${organizationId} AND NOT member.service AND member.opened_at IS NOT NULL
            AND (session.password_id IS NULL OR session.password_id = member.password_id OR (
              SELECT proven FROM password WHERE password.id = session.password_id FOR SHARE))
            AND (${role} = 'member' OR member.role = ${role})
          FOR SHARE OF session, member)
        ELSE false END`;
}

/** For a call of a batch, after `gate` has locked its organization's row. */
export const isCallGranted = isGranted({
  organizationId: sql`gate.gate_id`,
  apiEnabled: sql`gate.api_enabled`,
  value: (name) => sql`call.${columnName(name)}`,
});

/**
 * For a statement of one call, after `gate` has locked its organization's row. The condition depends on that row:
 * otherwise PostgreSQL would evaluate it, and lock what it reads, before the organization.
 */
export const isOneGranted = (gate: Sql) =>
  isGranted({
    organizationId: sql`${gate}.gate_id`,
    apiEnabled: sql`${gate}.api_enabled`,
    value: (name) => sql`:${name as Sql}::text`,
  });
