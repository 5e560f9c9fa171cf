import type { UserId } from '../../domain/id.ts';
import type { Accounts, Proof, Session } from '../store.ts';
import { auditText, auditValues } from './audit.ts';
import type { Database } from './database.ts';
import { type MembershipRow, mayEnter, membershipColumns, toMembership } from './membership-row.ts';
import { now } from './store-time.ts';

type SessionRow = {
  user_id: UserId;
  email: string;
  proof: Proof;
  seen_at: number;
  now: number;
} & (MembershipRow | { organization_id: null });

/** Those that a session of this proof, $5, may enter. */
const entered = `member WHERE user_id = $4 AND ${mayEnter('$5::text')}`;

// The person is held before their password, as whoever changes it does: it is then either not yet changed, and this session
// is one that the change will end, or it is read as changed. At most two that have expired are forgotten: they stay few
// without a sweep, and nobody who signs in pays for many.
const create = {
  name: 'create-session',
  text: `WITH forgotten AS (
      DELETE FROM session WHERE token_hash IN (
        SELECT token_hash FROM session WHERE expires_at <= ${now}
        ORDER BY expires_at LIMIT 2 FOR UPDATE SKIP LOCKED)
    ), person AS MATERIALIZED (
      SELECT id FROM "user" WHERE id = $4 FOR KEY SHARE
    ), known AS (
      SELECT id FROM person JOIN password ON user_id = id WHERE hash = $8 FOR SHARE OF password
    ), made AS (
      INSERT INTO session (token_hash, user_id, proof, created_at, seen_at, expires_at, ends_at)
      SELECT $3, id, $5, at, at, at + least($6::bigint, $7::bigint), at + $7::bigint
      FROM (SELECT id FROM person WHERE $5 = 'sso' UNION ALL SELECT id FROM known WHERE $5 = 'password') AS proven,
        (SELECT ${now} AS at) AS moment
      WHERE EXISTS (SELECT FROM ${entered})
      RETURNING created_at
    ), noted AS (
      ${auditText(`made, ${entered}`, 'organization_id', 'created_at', 9)}
    )
    SELECT created_at FROM made`,
};
const find = {
  name: 'find-session',
  text: `SELECT session.user_id, email, proof, seen_at, ${now} AS now, ${membershipColumns}
    FROM session JOIN "user" ON "user".id = session.user_id
      LEFT JOIN member ON member.organization_id = $4 AND member.user_id = session.user_id AND ${mayEnter('proof')}
      LEFT JOIN organization ON organization.id = member.organization_id
    WHERE token_hash = $3 AND expires_at > ${now}`,
};
const touch = {
  name: 'touch-session',
  text: `UPDATE session SET seen_at = greatest(seen_at, at), expires_at = least(at + $4::bigint, ends_at)
    FROM (SELECT ${now} AS at) AS moment WHERE token_hash = $3 AND expires_at > at`,
};
const end = { name: 'end-session', text: 'DELETE FROM session WHERE token_hash = $1' };
const endAll = {
  name: 'end-sessions',
  text: `WITH ended AS (
      DELETE FROM session WHERE user_id = $3 RETURNING expires_at > ${now} AS live
    ), noted AS (
      ${auditText('member WHERE user_id = $3 AND EXISTS (SELECT FROM ended WHERE live)', 'organization_id', now, 4)}
    )
    SELECT count(*) FILTER (WHERE live) AS ended FROM ended`,
};

export function postgresSessions({
  run,
  time,
}: Database): Pick<
  Accounts,
  'createSession' | 'findSession' | 'touchSession' | 'endSession' | 'endSessions'
> {
  return {
    async createSession({ tokenHash, userId, proof, idleMs, lifeMs, passwordHash }, note) {
      const values = [tokenHash, userId, proof, idleMs, lifeMs, passwordHash, ...auditValues(note)];
      const [made] = await run<{ created_at: number }>(create, [...time.parameters(), ...values]);
      if (made === undefined) return 'refused';
      time.see(made.created_at);
      return 'created';
    },

    async findSession(tokenHash, organizationId) {
      const values = [...time.parameters(), tokenHash, organizationId ?? null];
      const [row] = await run<SessionRow>(find, values);
      if (row !== undefined) time.see(row.now);
      return row && toSession(row);
    },

    async touchSession(tokenHash, idleMs) {
      await run(touch, [...time.parameters(), tokenHash, idleMs]);
    },

    async endSession(tokenHash) {
      await run(end, [tokenHash]);
    },

    async endSessions(userId, note) {
      const values = [...time.parameters(), userId, ...auditValues(note)];
      const [row] = await run<{ ended: number }>(endAll, values);
      return row!.ended;
    },
  };
}

function toSession(row: SessionRow): Session {
  return {
    userId: row.user_id,
    email: row.email,
    proof: row.proof,
    seenAt: row.seen_at,
    now: row.now,
    membership: row.organization_id === null ? undefined : toMembership(row),
  };
}
