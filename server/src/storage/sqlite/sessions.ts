import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { Accounts, Proof, Session } from '../store.ts';
import { organizationsOfText } from './accounts.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { type MembershipRow, mayEnter, membershipColumns, toMembership } from './membership-row.ts';

type SessionRow = {
  user_id: UserId;
  email: string;
  proof: Proof;
  seen_at: number;
} & (MembershipRow | { organization_id: null });

export const endSessionsText = 'DELETE FROM session WHERE user_id = ? RETURNING expires_at';

export function sqliteSessions(
  database: Database,
  commits: CommitQueue,
): Pick<Accounts, 'createSession' | 'findSession' | 'touchSession' | 'endSession' | 'endSessions'> {
  const audit = auditWriter(database);
  const insert = database.prepare(
    `INSERT INTO session (token_hash, user_id, proof, created_at, seen_at, expires_at, ends_at)
     SELECT @tokenHash, @userId, @proof, @now, @now, min(@now + @idleMs, @now + @lifeMs), @now + @lifeMs
     WHERE @proof = 'sso' OR EXISTS (SELECT 1 FROM password WHERE user_id = @userId AND hash = @passwordHash)`,
  );
  // At most two: they stay few without a sweep, and nobody who signs in pays for many.
  const forgetExpired = database.prepare<[number]>(
    `DELETE FROM session WHERE token_hash IN (
       SELECT token_hash FROM session WHERE expires_at <= ? ORDER BY expires_at LIMIT 2)`,
  );
  const find = database.prepare<[OrganizationId | null, string, number], SessionRow>(
    `SELECT session.user_id, email, proof, seen_at, ${membershipColumns}
     FROM session JOIN user ON user.id = session.user_id
       LEFT JOIN member ON member.organization_id = ? AND member.user_id = session.user_id AND ${mayEnter('proof')}
       LEFT JOIN organization ON organization.id = member.organization_id
     WHERE token_hash = ? AND expires_at > ?`,
  );
  const touch = database.prepare(
    `UPDATE session SET seen_at = @now, expires_at = min(@now + @idleMs, ends_at)
     WHERE token_hash = @tokenHash AND expires_at > @now`,
  );
  const end = database.prepare<[string]>('DELETE FROM session WHERE token_hash = ?');
  const endAll = database.prepare<[string], number>(endSessionsText).pluck();
  const organizationsOf = database.prepare<[string], OrganizationId>(organizationsOfText).pluck();
  const enteredBy = database
    .prepare<[string, Proof], OrganizationId>(`${organizationsOfText} AND ${mayEnter('?')}`)
    .pluck();

  return {
    createSession: (session, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const entered = enteredBy.all(session.userId, session.proof);
        if (entered.length === 0) return 'refused';
        forgetExpired.run(now);
        if (insert.run({ ...session, now }).changes === 0) return 'refused';
        for (const organizationId of entered) audit(organizationId, note, now);
        return 'created';
      }),

    async findSession(tokenHash, organizationId) {
      const now = commits.now();
      const row = find.get(organizationId ?? null, tokenHash, now);
      return row && toSession(row, now);
    },

    touchSession: (tokenHash, idleMs) =>
      commits.durable((clock) => {
        touch.run({ tokenHash, idleMs, now: clock.now() });
      }),

    endSession: (tokenHash) =>
      commits.durable(() => {
        end.run(tokenHash);
      }),

    endSessions: (userId, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const ended = endAll.all(userId).filter((expiresAt) => expiresAt > now).length;
        if (ended > 0)
          for (const organizationId of organizationsOf.all(userId)) audit(organizationId, note, now);
        return ended;
      }),
  };
}

function toSession(row: SessionRow, now: number): Session {
  return {
    userId: row.user_id,
    email: row.email,
    proof: row.proof,
    seenAt: row.seen_at,
    now,
    membership: row.organization_id === null ? undefined : toMembership(row),
  };
}
