import {
  type Access,
  checkStanding,
  coveredPassword,
  type Invitee,
  type MembershipFacts,
  type Password,
  passwordToChange,
} from '../../domain/account.ts';
import type { OrganizationId, PasswordId, UserId } from '../../domain/id.ts';
import { undoMs } from '../../domain/thread.ts';
import type { Accounts, Membership, Memberships, Person, Session } from '../port/store.ts';
import { writeNote, writeNotes } from './audit.ts';
import { keyIsLive, lockForSession, readAccess, unauthorized } from './authority.ts';
import { batchableStatement, callColumns, sql, statement } from './sql.ts';
import { count, method, row, rows, run, type Transactions, type Work } from './work.ts';

type MembershipRow = Membership & MembershipFacts;

const membershipColumns = sql`member.organization_id AS "organizationId",
  organization.name AS "organizationName", api_enabled AS "apiEnabled", role, service,
  opened_at IS NOT NULL AS accepted, member.password_id AS "acceptedWith"`;
const listMemberships = statement('list-memberships', { booleans: ['accepted', 'apiEnabled', 'service'] })`
  SELECT ${membershipColumns} FROM member JOIN organization ON organization.id = organization_id
  WHERE user_id = :userId ORDER BY joined_at, organization_id`;

export function* readMemberships(userId: UserId, access: Access): Work<Memberships> {
  const all = yield* rows<MembershipRow>(listMemberships, { userId });
  const inState = (standing: string) =>
    all.filter((each) => checkStanding(access, each) === standing).map(toMembership);
  return { entered: inState('entered'), pending: inState('pending') };
}

function toMembership({ organizationId, organizationName, apiEnabled, role }: MembershipRow): Membership {
  return { organizationId, organizationName, apiEnabled, role };
}

// Rows that refer to the user can still be added meanwhile.
const lock = statement('lock-user')`SELECT 1 FROM "user" WHERE id = :userId FOR NO KEY UPDATE`;
/** A condition on a password: a person can sign in with it. */
export const isUsed = sql`(proven OR EXISTS (SELECT 1 FROM member WHERE member.password_id = password.id))`;
const listPasswords = statement('list-passwords', { booleans: ['proven'] })`
  SELECT id, hash, proven FROM password WHERE user_id = :userId AND ${isUsed} ORDER BY id`;
export const closeMemberships = statement('close-memberships')`
  UPDATE member SET opened_at = NULL, password_id = NULL
  WHERE password_id = :passwordId RETURNING organization_id AS "organizationId"`;
// Keys made by the operator have no creator. They stay: they were not made in a session of the password.
const revokeKeys = statement('revoke-own-keys')`UPDATE api_key SET revoked_at = :now
  WHERE organization_id = :organizationId AND user_id = :userId AND created_by IS NOT NULL AND ${keyIsLive}
  RETURNING id`;
/** Anyone who has such a link could undo the change. */
export const removeResets = statement('remove-resets')`
  DELETE FROM invitation WHERE user_id = :userId AND resets`;
// Those of the operator stay: somebody who found out the password could otherwise keep its owner from using them.
const removeMailedResets = statement('remove-mailed-resets')`
  DELETE FROM invitation WHERE user_id = :userId AND resets AND NOT by_operator`;
const removePassword = statement('remove-password')`DELETE FROM password WHERE id = :passwordId`;

/** Call it before passwords change: see `lockForSession`. */
export const lockUser = (userId: UserId): Work<void> => run(lock, { userId });

export const readPasswords = (userId: UserId): Work<Password[]> => rows<Password>(listPasswords, { userId });

const theirThreads = sql`SELECT 1 FROM listing_size
  WHERE organization_id = :organizationId AND user_id = :userId AND account_key = '' AND threads > 0`;
export const hasThreads = statement('has-threads')`${theirThreads}`;
const findInvitee = statement('find-invitee', { booleans: ['hasKeys', 'hasThreads', 'identityBound'] })`
  SELECT EXISTS (SELECT 1 FROM identity WHERE user_id = :userId) AS "identityBound",
    EXISTS (${theirThreads}) OR EXISTS (SELECT 1 FROM thread WHERE organization_id = :organizationId
      AND user_id = :userId AND deleted_at >= :now - ${undoMs}) AS "hasThreads",
    EXISTS (SELECT 1 FROM api_key WHERE organization_id = :organizationId AND user_id = :userId AND ${keyIsLive})
      AS "hasKeys"`;

export function* readInvitee(organizationId: OrganizationId, userId: UserId): Work<Invitee> {
  const facts = (yield* row<Omit<Invitee, 'passwords'>>(findInvitee, { organizationId, userId }))!;
  return { ...facts, passwords: yield* readPasswords(userId) };
}

/** Removes passwords with their sessions and the keys of the memberships accepted with them. Returns their organizations. */
export function* voidPasswords(userId: UserId, passwords: readonly Password[], settle = closeMemberships) {
  const all: { organizationId: OrganizationId; keysRevoked?: number }[] = [];
  for (const { id: passwordId } of passwords) {
    const settled = yield* rows<{ organizationId: OrganizationId }>(settle, { passwordId });
    for (const { organizationId } of settled)
      all.push({ organizationId, keysRevoked: yield* count(revokeKeys, { organizationId, userId }) });
    yield* run(removePassword, { passwordId });
  }
  return all;
}

type PersonRow = Pick<Person, 'userId' | 'email'>;
const selectPerson = sql`SELECT "user".id AS "userId", email FROM "user"`;
const isPerson = sql`EXISTS (SELECT 1 FROM member WHERE member.user_id = "user".id AND NOT service)`;
const findByEmail = statement('find-person')`${selectPerson} WHERE email = :email AND ${isPerson}`;
const findByIdentity = statement('find-person-by-identity')`
  ${selectPerson} JOIN identity ON identity.user_id = "user".id
  WHERE issuer = :issuer AND subject = :subject AND ${isPerson}`;
const bind = statement('bind-identity')`
  INSERT INTO identity (issuer, subject, user_id) VALUES (:issuer, :subject, :userId) ON CONFLICT DO NOTHING`;
const accept = statement('accept-membership')`UPDATE member SET opened_at = :now, password_id = NULL
  WHERE organization_id = :organizationId AND user_id = :userId AND NOT service AND opened_at IS NULL
  RETURNING user_id`;
const removeInvitation = statement('remove-invitation')`
  DELETE FROM invitation WHERE organization_id = :organizationId AND user_id = :userId`;
const change = statement('change-password')`UPDATE password SET hash = :next WHERE id = :passwordId`;
const endCovered = statement('end-sessions', { booleans: ['live'] })`DELETE FROM session
  WHERE user_id = :userId AND token_hash <> :keptTokenHash
    AND (CAST(:covered AS text) IS NULL OR password_id = :covered)
  RETURNING expires_at > :now AS live`;

/** Ends the sessions that this proof covers, except for one, and returns the number of those that had not expired. */
export function* endSessions(userId: UserId, access: Access, keptTokenHash = ''): Work<number> {
  const values = { userId, keptTokenHash, covered: coveredPassword(access) ?? null };
  return (yield* rows<{ live: boolean }>(endCovered, values)).filter(({ live }) => live).length;
}

type SessionRow = Pick<Session, 'userId' | 'email' | 'seenAt' | 'now'> & {
  passwordId: PasswordId | null;
  proven: boolean | null;
} & (MembershipRow | { organizationId: null });

type EndedSession = Pick<SessionRow, 'userId' | 'passwordId' | 'proven'> & { live: boolean };

const insertSession = statement('create-session')`
  INSERT INTO session (token_hash, user_id, password_id, seen_at, expires_at, ends_at)
  SELECT :tokenHash, :userId, :passwordId, at, at + CAST(:firstMs AS bigint), at + CAST(:lifeMs AS bigint)
  FROM (SELECT :now AS at) AS moment RETURNING seen_at AS at`;
const findColumns = callColumns({ text: 'tokenHash organizationId' });
const findSession = batchableStatement('find-session', findColumns, {
  booleans: ['accepted', 'apiEnabled', 'proven', 'service'],
})`
  SELECT session.user_id AS "userId", email, session.password_id AS "passwordId", proven, seen_at AS "seenAt",
    :now AS now, ${membershipColumns}
  FROM session JOIN "user" ON "user".id = session.user_id
    LEFT JOIN password ON password.id = session.password_id
    LEFT JOIN member ON member.organization_id = :organizationId AND member.user_id = session.user_id
    LEFT JOIN organization ON organization.id = member.organization_id
  WHERE session.token_hash = :tokenHash AND session.expires_at > :now`;
const touchSession = statement('touch-session')`
  UPDATE session SET seen_at = CASE WHEN seen_at < at THEN at ELSE seen_at END,
    expires_at = CASE WHEN at + CAST(:idleMs AS bigint) < ends_at THEN at + CAST(:idleMs AS bigint) ELSE ends_at END
  FROM (SELECT :now AS at) AS moment WHERE token_hash = :tokenHash AND expires_at > at`;
const endSession = statement('end-session', {
  booleans: ['live', 'proven'],
})`DELETE FROM session WHERE token_hash = :tokenHash
  RETURNING user_id AS "userId", password_id AS "passwordId", expires_at > :now AS live,
    (SELECT proven FROM password WHERE password.id = session.password_id) AS proven`;

export function accounts({ read, readMany, write, writeOne }: Transactions): Accounts {
  const findOne = readMany<SessionRow>(findSession);
  return {
    findPerson: method(read, function* (email) {
      const found = yield* row<PersonRow>(findByEmail, { email });
      return found && { ...found, passwords: yield* readPasswords(found.userId) };
    }),

    listMemberships: (userId, access) => read(() => readMemberships(userId, access)),

    acceptMembership: method(write, function* (organizationId, note) {
      const { userId } = note.authority;
      const access = yield* readAccess(note.authority);
      if (access?.proof !== 'sso') return unauthorized;
      if ((yield* count(accept, { organizationId, userId })) === 0) return 'missing';
      yield* run(removeInvitation, { organizationId, userId });
      yield* writeNote(organizationId, note);
      return 'accepted';
    }),

    changePassword: method(write, function* (replacement, note) {
      const { userId, sessionHash } = note.authority;
      yield* lockUser(userId);
      if ((yield* readAccess(note.authority)) === undefined) return unauthorized;
      const password = passwordToChange(yield* readPasswords(userId), replacement);
      if (password === undefined) return 'refused';
      const { id: passwordId, proven } = password;
      const access = { proof: 'password', passwordId, proven } as const;
      yield* run(change, { next: replacement.next, passwordId });
      if (proven) yield* run(removeMailedResets, { userId });
      yield* endSessions(userId, access, sessionHash);
      yield* writeNotes((yield* readMemberships(userId, access)).entered, note);
      return 'changed';
    }),

    async bindIdentity(issuer, subject, email, note) {
      const known = await read(() => row<PersonRow>(findByIdentity, { issuer, subject }));
      if (known !== undefined) return known.userId;
      return write(function* () {
        const addressed = yield* row<PersonRow>(findByEmail, { email });
        if (addressed !== undefined) {
          yield* lockUser(addressed.userId);
          // Waits for a concurrent binding of the same subject, which the next statement then finds.
          yield* run(bind, { issuer, subject, userId: addressed.userId });
        }
        const bound = yield* row<PersonRow>(findByIdentity, { issuer, subject });
        if (bound === undefined) return undefined;
        const { userId } = bound;
        const unproven = (yield* readPasswords(userId)).filter(({ proven }) => !proven);
        const voided = { ...note, authority: { kind: 'proof', userId }, subject: userId } as const;
        yield* writeNotes(yield* voidPasswords(userId, unproven), voided);
        return userId;
      });
    },

    createSession: method(write, function* ({ tokenHash, userId, passwordHash, idleMs, lifeMs }, note) {
      yield* run(lockForSession, { userId });
      const access = yield* accessWith(userId, passwordHash);
      if (access === undefined) return 'refused';
      const { entered, pending } = yield* readMemberships(userId, access);
      if (entered.length + pending.length === 0) return 'refused';
      const passwordId = access.proof === 'password' ? access.passwordId : null;
      const firstMs = Math.min(idleMs, lifeMs);
      yield* run(insertSession, { tokenHash, userId, passwordId, firstMs, lifeMs });
      yield* writeNotes(entered, note);
      return 'created';
    }),

    async findSession(tokenHash, organizationId) {
      const [found] = await findOne({ tokenHash, organizationId: organizationId ?? null });
      return found && toSession(found);
    },

    touchSession: async (tokenHash, idleMs) => void (await writeOne(touchSession, { tokenHash, idleMs })),

    endSession: method(write, function* (tokenHash, note) {
      const ended = yield* row<EndedSession>(endSession, { tokenHash });
      if (note === undefined || !ended?.live) return;
      yield* writeNotes((yield* readMemberships(ended.userId, accessIn(ended))).entered, note);
    }),

    endSessions: method(write, function* (note) {
      const { userId } = note.authority;
      // Two sessions that end each other would otherwise each hold what the other one deletes.
      yield* lockUser(userId);
      const access = yield* readAccess(note.authority);
      if (access === undefined) return unauthorized;
      const live = yield* endSessions(userId, access);
      if (live > 0) yield* writeNotes((yield* readMemberships(userId, access)).entered, note);
      return live;
    }),
  };
}

/** Undefined if the password that was verified is no longer one of the person's. */
function* accessWith(userId: UserId, passwordHash: string | null): Work<Access | undefined> {
  if (passwordHash === null) return { proof: 'sso' };
  const password = (yield* readPasswords(userId)).find(({ hash }) => hash === passwordHash);
  return password && { proof: 'password', passwordId: password.id, proven: password.proven };
}

function accessIn({ passwordId, proven }: Pick<SessionRow, 'passwordId' | 'proven'>): Access {
  return passwordId === null ? { proof: 'sso' } : { proof: 'password', passwordId, proven: proven === true };
}

function toSession(row: SessionRow): Session {
  const { userId, email, seenAt, now } = row;
  const access = accessIn(row);
  const isEntered = row.organizationId !== null && checkStanding(access, row) === 'entered';
  return { userId, email, access, seenAt, now, membership: isEntered ? toMembership(row) : undefined };
}
