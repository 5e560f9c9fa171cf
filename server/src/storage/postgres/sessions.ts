import { type Access, coveredPassword } from '../../domain/account.ts';
import type { PasswordId, UserId } from '../../domain/id.ts';
import type { Accounts, Session } from '../store.ts';
import { writeNotes } from './audit.ts';
import type { Database, Run } from './database.ts';
import {
  enteredMembership,
  type MembershipRow,
  membershipColumns,
  membershipsOf,
  sortMemberships,
} from './membership-row.ts';
import { passwordsOf } from './passwords.ts';
import { now } from './store-time.ts';

type SessionRow = {
  user_id: UserId;
  email: string;
  password_id: PasswordId | null;
  proven: boolean | null;
  seen_at: number;
  now: number;
} & (MembershipRow | { organization_id: null });

// The person is held before their passwords, as whoever changes those does: either they are not changed yet, and this
// session is one that the change will end, or they are read as changed.
const holdUser = { name: 'hold-user', text: 'SELECT FROM "user" WHERE id = $1 FOR KEY SHARE' };
const insert = {
  name: 'create-session',
  text: `INSERT INTO session (token_hash, user_id, proof, password_id, created_at, seen_at, expires_at, ends_at)
    SELECT $3, $4, $5, $6, at, at, at + least($7::bigint, $8::bigint), at + $8::bigint
    FROM (SELECT ${now} AS at) AS moment RETURNING created_at`,
};
const find = {
  name: 'find-session',
  text: `SELECT session.user_id, email, session.password_id, proven, seen_at, ${now} AS now, ${membershipColumns}
    FROM session JOIN "user" ON "user".id = session.user_id LEFT JOIN password ON password.id = session.password_id
      LEFT JOIN member ON member.organization_id = $4 AND member.user_id = session.user_id
      LEFT JOIN organization ON organization.id = member.organization_id
    WHERE token_hash = $3 AND expires_at > ${now}`,
};
const touch = {
  name: 'touch-session',
  text: `UPDATE session SET seen_at = greatest(seen_at, at), expires_at = least(at + $4::bigint, ends_at)
    FROM (SELECT ${now} AS at) AS moment WHERE token_hash = $3 AND expires_at > at`,
};
const end = { name: 'end-session', text: 'DELETE FROM session WHERE token_hash = $1' };
const endCovered = {
  name: 'end-sessions',
  text: `DELETE FROM session WHERE user_id = $3 AND ($4::text IS NULL OR password_id = $4)
    RETURNING expires_at > ${now} AS live`,
};

export function postgresSessions(
  database: Database,
): Pick<Accounts, 'createSession' | 'findSession' | 'touchSession' | 'endSession' | 'endSessions'> {
  const { run, time } = database;
  return {
    createSession: ({ tokenHash, userId, passwordHash, idleMs, lifeMs }, note) =>
      database.transaction(async (runHere) => {
        await runHere(holdUser, [userId]);
        const access = await accessOf(runHere, userId, passwordHash);
        if (access === undefined) return 'refused';
        const rows = await runHere<MembershipRow>(membershipsOf, [userId]);
        const { entered, pending } = sortMemberships(access, rows);
        if (entered.length + pending.length === 0) return 'refused';
        const passwordId = access.proof === 'password' ? access.passwordId : null;
        const values = [tokenHash, userId, access.proof, passwordId, idleMs, lifeMs];
        const [made] = await runHere<{ created_at: number }>(insert, [...time.parameters(), ...values]);
        time.see(made!.created_at);
        await writeNotes(runHere, time, entered, note);
        return 'created';
      }),

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

    endSessions: (userId, access, note) =>
      database.transaction(async (runHere) => {
        const values = [...time.parameters(), userId, coveredPassword(access) ?? null];
        const ended = (await runHere<{ live: boolean }>(endCovered, values)).filter(({ live }) => live);
        if (ended.length > 0) {
          const rows = await runHere<MembershipRow>(membershipsOf, [userId]);
          await writeNotes(runHere, time, sortMemberships(access, rows).entered, note);
        }
        return ended.length;
      }),
  };
}

/** Undefined where the password is no longer the one that was proven. */
async function accessOf(run: Run, userId: UserId, passwordHash: string | null): Promise<Access | undefined> {
  if (passwordHash === null) return { proof: 'sso' };
  const password = (await passwordsOf(run, userId)).find(({ hash }) => hash === passwordHash);
  return password && { proof: 'password', passwordId: password.id, proven: password.proven };
}

function toSession(row: SessionRow): Session {
  const access: Access =
    row.password_id === null
      ? { proof: 'sso' }
      : { proof: 'password', passwordId: row.password_id, proven: row.proven === true };
  return {
    userId: row.user_id,
    email: row.email,
    access,
    seenAt: row.seen_at,
    now: row.now,
    membership: row.organization_id === null ? undefined : enteredMembership(access, row),
  };
}
