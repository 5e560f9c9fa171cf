import { type Access, coveredPassword } from '../../domain/account.ts';
import type { PasswordId, UserId } from '../../domain/id.ts';
import { enteredMembership, type MembershipRow, sortMemberships } from '../memberships.ts';
import type { Accounts, Session } from '../store.ts';
import { writeNotes } from './audit.ts';
import type { Database, Run } from './database.ts';
import { listMemberships, membershipColumns } from './membership-row.ts';
import { passwordsOf } from './passwords.ts';
import { statement } from './sql.ts';
import { now } from './store-time.ts';

type SessionRow = Pick<Session, 'userId' | 'email' | 'seenAt' | 'now'> & {
  passwordId: PasswordId | null;
  proven: boolean | null;
} & (MembershipRow | { organizationId: null });

// The user is locked before their passwords are read. A password change takes a stronger lock: it either waits, and then
// ends the new session, or commits first, and the new password is read here.
const lockUser = statement('hold-user')`SELECT FROM "user" WHERE id = :userId FOR KEY SHARE`;
const insert = statement('create-session')`
  INSERT INTO session (token_hash, user_id, proof, password_id, created_at, seen_at, expires_at, ends_at)
  SELECT :tokenHash, :userId, :proof, :passwordId, at, at, at + least(:idleMs::bigint, :lifeMs::bigint),
    at + :lifeMs::bigint
  FROM (SELECT ${now} AS at) AS moment RETURNING created_at AS at`;
const find = statement('find-session')`
  SELECT session.user_id AS "userId", email, session.password_id AS "passwordId", proven, seen_at AS "seenAt",
    ${now} AS now, ${membershipColumns}
  FROM session JOIN "user" ON "user".id = session.user_id LEFT JOIN password ON password.id = session.password_id
    LEFT JOIN member ON member.organization_id = :organizationId AND member.user_id = session.user_id
    LEFT JOIN organization ON organization.id = member.organization_id
  WHERE token_hash = :tokenHash AND expires_at > ${now}`;
const touch = statement('touch-session')`
  UPDATE session SET seen_at = greatest(seen_at, at), expires_at = least(at + :idleMs::bigint, ends_at)
  FROM (SELECT ${now} AS at) AS moment WHERE token_hash = :tokenHash AND expires_at > at`;
const end = statement('end-session')`DELETE FROM session WHERE token_hash = :tokenHash`;
const endCovered = statement('end-sessions')`
  DELETE FROM session WHERE user_id = :userId AND (:passwordId::text IS NULL OR password_id = :passwordId)
  RETURNING expires_at > ${now} AS live`;

export function postgresSessions(
  database: Database,
): Pick<Accounts, 'createSession' | 'findSession' | 'touchSession' | 'endSession' | 'endSessions'> {
  const { run, time } = database;
  return {
    createSession: ({ tokenHash, userId, passwordHash, idleMs, lifeMs }, note) =>
      database.transaction(async (runHere) => {
        await runHere(lockUser, { userId });
        const access = await accessOf(runHere, userId, passwordHash);
        if (access === undefined) return 'refused';
        const rows = await runHere<MembershipRow>(listMemberships, { userId });
        const { entered, pending } = sortMemberships(access, rows);
        if (entered.length + pending.length === 0) return 'refused';
        const { proof } = access;
        const passwordId = access.proof === 'password' ? access.passwordId : null;
        const values = { tokenHash, userId, proof, passwordId, idleMs, lifeMs };
        const [made] = await runHere<{ at: number }>(insert, values);
        time.see(made!.at);
        await writeNotes(runHere, entered, note);
        return 'created';
      }),

    async findSession(tokenHash, organizationId) {
      const [row] = await run<SessionRow>(find, { tokenHash, organizationId: organizationId ?? null });
      if (row !== undefined) time.see(row.now);
      return row && toSession(row);
    },

    async touchSession(tokenHash, idleMs) {
      await run(touch, { tokenHash, idleMs });
    },

    async endSession(tokenHash) {
      await run(end, { tokenHash });
    },

    endSessions: (userId, access, note) =>
      database.transaction(async (runHere) => {
        const passwordId = coveredPassword(access) ?? null;
        const ended = await runHere<{ live: boolean }>(endCovered, { userId, passwordId });
        const count = ended.filter(({ live }) => live).length;
        if (count > 0) {
          const rows = await runHere<MembershipRow>(listMemberships, { userId });
          await writeNotes(runHere, sortMemberships(access, rows).entered, note);
        }
        return count;
      }),
  };
}

/** Undefined if the password that was verified is no longer one of the user's. */
async function accessOf(run: Run, userId: UserId, passwordHash: string | null): Promise<Access | undefined> {
  if (passwordHash === null) return { proof: 'sso' };
  const password = (await passwordsOf(run, userId)).find(({ hash }) => hash === passwordHash);
  return password && { proof: 'password', passwordId: password.id, proven: password.proven };
}

function toSession(row: SessionRow): Session {
  const { userId, email, seenAt, now, passwordId } = row;
  const access: Access =
    passwordId === null ? { proof: 'sso' } : { proof: 'password', passwordId, proven: row.proven === true };
  const membership = row.organizationId === null ? undefined : enteredMembership(access, row);
  return { userId, email, access, seenAt, now, membership };
}
