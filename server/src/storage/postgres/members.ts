import type { UserId } from '../../domain/id.ts';
import type { Member } from '../../domain/organization.ts';
import type { Accounts, Members } from '../store.ts';
import { keyIsLive } from './api-keys.ts';
import { insertNote, noteValues, writeNote } from './audit.ts';
import type { Database } from './database.ts';
import { type Sql, sql, statement } from './sql.ts';
import { now } from './store-time.ts';

const selectMember = sql`
  SELECT member.user_id AS "userId", email, role, service, joined_at AS "joinedAt", opened_at IS NOT NULL AS opened,
    expires_at AS "invitedUntil"
  FROM member JOIN "user" ON "user".id = member.user_id
    LEFT JOIN invitation ON invitation.organization_id = member.organization_id
      AND invitation.user_id = member.user_id AND expires_at > ${now}
  WHERE member.organization_id = :organizationId`;

// The update of a known address changes nothing, but makes RETURNING return the user.
const add = statement('add-member')`WITH person AS (
    INSERT INTO "user" (id, email, created_at)
    SELECT :candidateUserId, :email, ${now} WHERE EXISTS (SELECT FROM organization WHERE id = :organizationId)
    ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id
  ), added AS (
    INSERT INTO member (organization_id, user_id, role, service, joined_at)
    SELECT :organizationId, id, :role, :service, ${now} FROM person
    WHERE NOT (:withoutThreads::boolean AND EXISTS (
      SELECT FROM thread WHERE organization_id = :organizationId AND user_id = person.id AND deleted_at IS NULL))
    ON CONFLICT DO NOTHING RETURNING user_id, joined_at
  )
  SELECT added.user_id AS added, added.joined_at AS at, member.user_id IS NOT NULL AS known
  FROM person LEFT JOIN added ON true
    LEFT JOIN member ON member.organization_id = :organizationId AND member.user_id = person.id`;

/**
 * The member as `subject`, and whether another person would still be an admin without them. An admin who has joined can
 * only be replaced by another one who has joined. Locks the member and all admins until the commit, always in the same
 * order: of two admins who remove each other at the same time, the second waits for the first and then finds no other.
 */
function lockSubject(userId: Sql, keepAdmin: Sql, strength: Sql): Sql {
  return sql`held AS (
    SELECT user_id, role, service, opened_at FROM member
    WHERE organization_id = :organizationId
      AND (user_id = ${userId} OR (${keepAdmin} AND role = 'admin' AND NOT service))
    ORDER BY user_id FOR ${strength}
  ), subject AS (
    SELECT user_id, role, role = 'member' OR service OR NOT ${keepAdmin} OR EXISTS (
      SELECT FROM held AS other WHERE other.user_id <> ${userId} AND other.role = 'admin' AND NOT other.service
        AND (other.opened_at IS NOT NULL OR held.opened_at IS NULL)) AS dispensable
    FROM held WHERE user_id = ${userId}
  )`;
}
const remove = statement('remove-member')`WITH person AS (SELECT id FROM "user" WHERE email = :email
  ), ${lockSubject(sql`(SELECT id FROM person)`, sql`:keepAdmin::boolean`, sql`UPDATE`)}, removed AS (
    DELETE FROM member USING subject
    WHERE organization_id = :organizationId AND member.user_id = subject.user_id AND dispensable RETURNING 1
  ), noted AS (${insertNote(sql`removed`, sql`:organizationId`, now)})
  SELECT user_id AS "userId", dispensable AS removed FROM subject`;
const setRole = statement('set-member-role')`
  WITH ${lockSubject(sql`:userId`, sql`:role = 'member'`, sql`NO KEY UPDATE`)}, changed AS (
    UPDATE member SET role = :role FROM subject
    WHERE organization_id = :organizationId AND member.user_id = subject.user_id AND subject.role <> :role
      AND dispensable
    RETURNING 1
  ), noted AS (${insertNote(sql`changed`, sql`:organizationId`, now)})
  SELECT role = :role OR dispensable AS changed FROM subject`;
const revokeKeys = statement('revoke-keys-of-user')`UPDATE api_key SET revoked_at = ${now}
  WHERE organization_id = :organizationId AND user_id = :userId AND ${keyIsLive} RETURNING id`;
const findByEmail = statement('find-member')`${selectMember} AND email = :email`;
const findById = statement('find-member-by-id')`${selectMember} AND member.user_id = :userId`;
const list = statement('list-members')`${selectMember} ORDER BY joined_at, member.user_id`;

export function postgresMembers(database: Database): Members & Pick<Accounts, 'setMemberRole'> {
  const { run, time } = database;
  return {
    // Two statements, because the id that the note names is known only after the first.
    addMember: (organizationId, { withoutThreads = false, ...member }, note) =>
      database.transaction(async (runHere) => {
        type Added = { added: UserId | null; at: number; known: boolean };
        const [row] = await runHere<Added>(add, { ...member, organizationId, withoutThreads });
        if (row === undefined) return { outcome: 'organization-missing' };
        if (row.added === null) {
          return { outcome: withoutThreads && !row.known ? 'has-threads' : 'already-member' };
        }
        time.see(row.at);
        await writeNote(runHere, time, organizationId, { ...note, subject: row.added });
        return { outcome: 'added', userId: row.added };
      }),

    // Two statements, so that the second sees a key that was created while the first waited for its lock.
    removeMember: (organizationId, email, keepAdmin, note) =>
      database.transaction(async (runHere) => {
        const values = { organizationId, email, keepAdmin, ...noteValues(note) };
        const [subject] = await runHere<{ userId: UserId; removed: boolean }>(remove, values);
        if (subject === undefined) return { outcome: 'missing' };
        if (!subject.removed) return { outcome: 'last-admin' };
        const { userId } = subject;
        const revoked = await runHere(revokeKeys, { organizationId, userId });
        return { outcome: 'removed', userId, keysRevoked: revoked.length };
      }),

    async setMemberRole(organizationId, userId, role, note) {
      const values = { organizationId, userId, role, ...noteValues(note) };
      const [subject] = await run<{ changed: boolean }>(setRole, values);
      if (subject === undefined) return 'missing';
      return subject.changed ? 'changed' : 'last-admin';
    },

    findMember: async (organizationId, email) =>
      (await run<Member>(findByEmail, { organizationId, email }))[0],

    findMemberById: async (organizationId, userId) =>
      (await run<Member>(findById, { organizationId, userId }))[0],

    listMembers: (organizationId) => run<Member>(list, { organizationId }),
  };
}
