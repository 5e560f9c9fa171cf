import { type Access, coveredPassword } from '../../domain/account.ts';
import type { OrganizationId, PasswordId, UserId } from '../../domain/id.ts';
import { enteredMembership, sortMemberships } from '../memberships.ts';
import type { Accounts, Session } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import {
  membershipColumns,
  prepareListMemberships,
  readMembership,
  type StoredMembership,
} from './membership-row.ts';
import { passwordTable } from './passwords.ts';

type SessionRow = {
  userId: UserId;
  email: string;
  passwordId: PasswordId | null;
  proven: number | null;
  seenAt: number;
} & (StoredMembership | { organizationId: null });

export function sqliteSessions(
  database: Database,
  commits: CommitQueue,
): Pick<Accounts, 'createSession' | 'findSession' | 'touchSession' | 'endSession' | 'endSessions'> {
  const audit = auditWriter(database);
  const passwords = passwordTable(database);
  const insert = database.prepare(
    `INSERT INTO session (token_hash, user_id, proof, password_id, created_at, seen_at, expires_at, ends_at)
     VALUES (@tokenHash, @userId, @proof, @passwordId, @now, @now, min(@now + @idleMs, @now + @lifeMs), @now + @lifeMs)`,
  );
  const find = database.prepare<[OrganizationId | null, string, number], SessionRow>(
    `SELECT session.user_id AS userId, email, session.password_id AS passwordId, proven, seen_at AS seenAt,
       ${membershipColumns}
     FROM session JOIN user ON user.id = session.user_id LEFT JOIN password ON password.id = session.password_id
       LEFT JOIN member ON member.organization_id = ? AND member.user_id = session.user_id
       LEFT JOIN organization ON organization.id = member.organization_id
     WHERE token_hash = ? AND expires_at > ? AND (proof = 'sso' OR password.id IS NOT NULL)`,
  );
  const touch = database.prepare(
    `UPDATE session SET seen_at = @now, expires_at = min(@now + @idleMs, ends_at)
     WHERE token_hash = @tokenHash AND expires_at > @now`,
  );
  const end = database.prepare<[string]>('DELETE FROM session WHERE token_hash = ?');
  const endCovered = database
    .prepare<{ userId: UserId; covered: PasswordId | null }, number>(
      `DELETE FROM session WHERE user_id = @userId AND (@covered IS NULL OR password_id = @covered)
       RETURNING expires_at`,
    )
    .pluck();
  const listMemberships = prepareListMemberships(database);

  /** Undefined if the password that was proven is no longer one of the person's. */
  function accessOf(userId: UserId, passwordHash: string | null): Access | undefined {
    if (passwordHash === null) return { proof: 'sso' };
    const password = passwords.of(userId).find(({ hash }) => hash === passwordHash);
    return password && { proof: 'password', passwordId: password.id, proven: password.proven };
  }

  return {
    createSession: ({ tokenHash, userId, passwordHash, idleMs, lifeMs }, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const access = accessOf(userId, passwordHash);
        if (access === undefined) return 'refused';
        const { entered, pending } = sortMemberships(access, listMemberships(userId));
        if (entered.length + pending.length === 0) return 'refused';
        const { proof } = access;
        const passwordId = access.proof === 'password' ? access.passwordId : null;
        insert.run({ tokenHash, userId, proof, passwordId, idleMs, lifeMs, now });
        for (const { organizationId } of entered) audit(organizationId, note, now);
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

    endSessions: (userId, access, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const expiries = endCovered.all({ userId, covered: coveredPassword(access) ?? null });
        const ended = expiries.filter((expiresAt) => expiresAt > now).length;
        if (ended > 0)
          for (const { organizationId } of sortMemberships(access, listMemberships(userId)).entered)
            audit(organizationId, note, now);
        return ended;
      }),
  };
}

function toSession(row: SessionRow, now: number): Session {
  const { userId, email, passwordId, seenAt } = row;
  const access: Access =
    passwordId === null ? { proof: 'sso' } : { proof: 'password', passwordId, proven: row.proven === 1 };
  const membership = row.organizationId === null ? undefined : enteredMembership(access, readMembership(row));
  return { userId, email, access, seenAt, now, membership };
}
