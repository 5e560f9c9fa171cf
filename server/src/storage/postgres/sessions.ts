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

// At most two that have expired: they stay few without a sweep, and nobody who signs in pays for many.
const create = {
  name: 'create-session',
  text: `WITH forgotten AS (
      DELETE FROM session WHERE token_hash IN (
        SELECT token_hash FROM session WHERE expires_at <= ${now}
        ORDER BY expires_at LIMIT 2 FOR UPDATE SKIP LOCKED)
    )
    INSERT INTO session (token_hash, user_id, proof, created_at, seen_at, expires_at, ends_at)
    SELECT $3, $4, $5, at, at, at + least($6::bigint, $7::bigint), at + $7::bigint FROM (SELECT ${now} AS at) AS moment
    RETURNING created_at`,
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
    async createSession({ tokenHash, userId, proof, idleMs, lifeMs }) {
      const values = [tokenHash, userId, proof, idleMs, lifeMs];
      const [made] = await run<{ created_at: number }>(create, [...time.parameters(), ...values]);
      time.see(made!.created_at);
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
