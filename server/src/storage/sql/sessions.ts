import { type Access, coveredPassword } from '../../domain/account.ts';
import type { PasswordId, UserId } from '../../domain/id.ts';
import type { Session, Sessions } from '../store.ts';
import {
  enteredMembership,
  type MembershipRow,
  membershipColumns,
  membershipsOf,
  passwordsOf,
} from './accounts.ts';
import { writeNotes } from './audit.ts';
import { callColumns, type Sql, sql, statement } from './sql.ts';
import { rows, run, type Transactions, type Work } from './work.ts';

type SessionRow = Pick<Session, 'userId' | 'email' | 'seenAt' | 'now'> & {
  passwordId: PasswordId | null;
  proven: boolean | null;
} & (MembershipRow | { organizationId: null });

// The user is locked before their passwords are read. A password change takes a stronger lock: it either waits, and then
// ends the new session, or commits first, and the new password is read here.
const lockUser = statement('lock-user-of-session')`SELECT 1 FROM "user" WHERE id = :userId FOR KEY SHARE`;
const insert = statement('create-session')`
  INSERT INTO session (token_hash, user_id, proof, password_id, created_at, seen_at, expires_at, ends_at)
  SELECT :tokenHash, :userId, :proof, :passwordId, at, at, at + CAST(:firstMs AS bigint), at + CAST(:lifeMs AS bigint)
  FROM (SELECT :now AS at) AS moment RETURNING created_at AS at`;
const findColumns = callColumns({ text: 'tokenHash organizationId' });
const find = (asked: Sql) => sql`
  SELECT place, session.user_id AS "userId", email, session.password_id AS "passwordId", proven, seen_at AS "seenAt",
    :now AS now, ${membershipColumns}
  FROM ${asked} JOIN session ON session.token_hash = asked.token_hash JOIN "user" ON "user".id = session.user_id
    LEFT JOIN password ON password.id = session.password_id
    LEFT JOIN member ON member.organization_id = asked.organization_id AND member.user_id = session.user_id
    LEFT JOIN organization ON organization.id = member.organization_id
  WHERE expires_at > :now AND (proof = 'sso' OR password.id IS NOT NULL)`;
const touch = statement('touch-session')`
  UPDATE session SET seen_at = CASE WHEN seen_at < at THEN at ELSE seen_at END,
    expires_at = CASE WHEN at + CAST(:idleMs AS bigint) < ends_at THEN at + CAST(:idleMs AS bigint) ELSE ends_at END
  FROM (SELECT :now AS at) AS moment WHERE token_hash = :tokenHash AND expires_at > at`;
const end = statement('end-session')`DELETE FROM session WHERE token_hash = :tokenHash`;
const endCovered = statement('end-sessions')`
  DELETE FROM session WHERE user_id = :userId AND (CAST(:covered AS text) IS NULL OR password_id = :covered)
  RETURNING expires_at > :now AS live`;

export function sessions({ readMany, write, writeOne }: Transactions): Sessions {
  const findEach = readMany<SessionRow>('find-session', findColumns, find);
  return {
    createSession: ({ tokenHash, userId, passwordHash, idleMs, lifeMs }, note) =>
      write(function* () {
        yield* run(lockUser, { userId });
        const access = yield* accessOf(userId, passwordHash);
        if (access === undefined) return 'refused';
        const { entered, pending } = yield* membershipsOf(userId, access);
        if (entered.length + pending.length === 0) return 'refused';
        const { proof } = access;
        const passwordId = access.proof === 'password' ? access.passwordId : null;
        const firstMs = Math.min(idleMs, lifeMs);
        yield* run(insert, { tokenHash, userId, proof, passwordId, firstMs, lifeMs });
        yield* writeNotes(entered, note);
        return 'created';
      }),

    async findSession(tokenHash, organizationId) {
      const [found] = await findEach({ tokenHash, organizationId: organizationId ?? null });
      return found && toSession(found);
    },

    touchSession: async (tokenHash, idleMs) => void (await writeOne(touch, { tokenHash, idleMs })),

    endSession: async (tokenHash) => void (await writeOne(end, { tokenHash })),

    endSessions: (userId, access, note) =>
      write(function* () {
        const covered = coveredPassword(access) ?? null;
        const ended = yield* rows<{ live: boolean }>(endCovered, { userId, covered });
        const live = ended.filter((each) => each.live).length;
        if (live > 0) yield* writeNotes((yield* membershipsOf(userId, access)).entered, note);
        return live;
      }),
  };
}

/** Undefined if the password that was verified is no longer one of the person's. */
function* accessOf(userId: UserId, passwordHash: string | null): Work<Access | undefined> {
  if (passwordHash === null) return { proof: 'sso' };
  const password = (yield* passwordsOf(userId)).find(({ hash }) => hash === passwordHash);
  return password && { proof: 'password', passwordId: password.id, proven: password.proven };
}

function toSession(row: SessionRow): Session {
  const { userId, email, seenAt, now, passwordId } = row;
  const access: Access =
    passwordId === null ? { proof: 'sso' } : { proof: 'password', passwordId, proven: row.proven === true };
  const membership = row.organizationId === null ? undefined : enteredMembership(access, row);
  return { userId, email, access, seenAt, now, membership };
}
