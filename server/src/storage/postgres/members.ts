import type { UserId } from '../../domain/id.ts';
import type { Member, MemberRole } from '../../domain/organization.ts';
import type { Accounts, Members } from '../store.ts';
import { keyIsLive } from './api-keys.ts';
import { auditText, auditValues, writeNote } from './audit.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';

interface MemberRow {
  user_id: UserId;
  email: string;
  role: MemberRole;
  service: boolean;
  joined_at: number;
  opened_at: number | null;
  invited_until: number | null;
}

const selectMember = `SELECT member.user_id, email, role, service, joined_at, opened_at, expires_at AS invited_until
  FROM member JOIN "user" ON "user".id = member.user_id
    LEFT JOIN invitation ON invitation.organization_id = member.organization_id
      AND invitation.user_id = member.user_id AND expires_at > ${now}
  WHERE member.organization_id = $3`;

// The no-op update makes RETURNING answer for a known address, too.
const add = {
  name: 'add-member',
  text: `WITH person AS (
      INSERT INTO "user" (id, email, created_at)
      SELECT $4, $5, ${now} WHERE EXISTS (SELECT FROM organization WHERE id = $3)
      ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id
    ), added AS (
      INSERT INTO member (organization_id, user_id, role, service, joined_at)
      SELECT $3, id, $6, $7, ${now} FROM person
      WHERE NOT ($8::boolean AND EXISTS (
        SELECT FROM thread WHERE organization_id = $3 AND user_id = person.id AND deleted_at IS NULL))
      ON CONFLICT DO NOTHING RETURNING user_id, joined_at
    )
    SELECT added.user_id AS added, added.joined_at, member.user_id IS NOT NULL AS known
    FROM person LEFT JOIN added ON true
      LEFT JOIN member ON member.organization_id = $3 AND member.user_id = person.id`,
};

/**
 * The member, and whether a person is left who is an admin, as `subject`. Both are held until the commit, in one order
 * for all: of two admins who put each other out at once, one waits for the other's commit and then finds nobody else.
 */
function subjectText(userId: string, keepAdmin: string, strength: string): string {
  return `held AS (
      SELECT user_id, role, service FROM member
      WHERE organization_id = $3 AND (user_id = ${userId} OR (${keepAdmin} AND role = 'admin' AND NOT service))
      ORDER BY user_id FOR ${strength}
    ), subject AS (
      SELECT user_id, role, role = 'member' OR service OR NOT ${keepAdmin} OR (
        SELECT count(*) > 0 FROM held WHERE user_id <> ${userId} AND role = 'admin' AND NOT service) AS dispensable
      FROM held WHERE user_id = ${userId}
    )`;
}
const remove = {
  name: 'remove-member',
  text: `WITH person AS (SELECT id FROM "user" WHERE email = $4
    ), ${subjectText('(SELECT id FROM person)', '$5::boolean', 'UPDATE')}, gone AS (
      DELETE FROM member USING subject
      WHERE organization_id = $3 AND member.user_id = subject.user_id AND dispensable RETURNING 1
    ), noted AS (${auditText('gone', '$3', now, 6)})
    SELECT user_id, dispensable AS removed FROM subject`,
};
const setRole = {
  name: 'set-member-role',
  text: `WITH ${subjectText('$4', "$5 = 'member'", 'NO KEY UPDATE')}, changed AS (
      UPDATE member SET role = $5 FROM subject
      WHERE organization_id = $3 AND member.user_id = subject.user_id AND subject.role <> $5 AND dispensable RETURNING 1
    ), noted AS (${auditText('changed', '$3', now, 6)})
    SELECT role = $5 OR dispensable AS changed FROM subject`,
};
const revokeKeysOfUser = {
  name: 'revoke-keys-of-user',
  text: `UPDATE api_key SET revoked_at = ${now}
    WHERE organization_id = $3 AND user_id = $4 AND ${keyIsLive(now)} RETURNING id`,
};
const byEmail = { name: 'find-member', text: `${selectMember} AND email = $4` };
const byUser = { name: 'find-member-by-id', text: `${selectMember} AND member.user_id = $4` };
const all = { name: 'list-members', text: `${selectMember} ORDER BY joined_at, member.user_id` };

export function postgresMembers(database: Database): Members & Pick<Accounts, 'setMemberRole'> {
  const { run, time } = database;
  return {
    // Two statements: whom the note speaks of is known after the first.
    addMember: (organizationId, { candidateUserId, email, role, service, withoutThreads = false }, note) =>
      database.transaction(async (runHere) => {
        const values = [organizationId, candidateUserId, email, role, service, withoutThreads];
        const [row] = await runHere<{ added: UserId | null; joined_at: number; known: boolean }>(add, [
          ...time.parameters(),
          ...values,
        ]);
        if (row === undefined) return { outcome: 'organization-missing' };
        if (row.added === null) {
          return { outcome: withoutThreads && !row.known ? 'has-threads' : 'already-member' };
        }
        time.see(row.joined_at);
        await writeNote(runHere, time, organizationId, { ...note, subject: row.added });
        return { outcome: 'added', userId: row.added };
      }),

    // Two statements: a key that was made while the first waited for its member must be seen by the second.
    removeMember: (organizationId, email, keepAdmin, note) =>
      database.transaction(async (runHere) => {
        const values = [organizationId, email, keepAdmin, ...auditValues(note)];
        const [subject] = await runHere<{ user_id: UserId; removed: boolean }>(remove, [
          ...time.parameters(),
          ...values,
        ]);
        if (subject === undefined) return { outcome: 'missing' };
        if (!subject.removed) return { outcome: 'last-admin' };
        const userId = subject.user_id;
        const revoked = await runHere(revokeKeysOfUser, [...time.parameters(), organizationId, userId]);
        return { outcome: 'removed', userId, keysRevoked: revoked.length };
      }),

    async setMemberRole(organizationId, userId, role, note) {
      const values = [organizationId, userId, role, ...auditValues(note)];
      const [subject] = await run<{ changed: boolean }>(setRole, [...time.parameters(), ...values]);
      if (subject === undefined) return 'missing';
      return subject.changed ? 'changed' : 'last-admin';
    },

    async findMember(organizationId, email) {
      const [row] = await run<MemberRow>(byEmail, [...time.parameters(), organizationId, email]);
      return row && toMember(row);
    },

    async findMemberById(organizationId, userId) {
      const [row] = await run<MemberRow>(byUser, [...time.parameters(), organizationId, userId]);
      return row && toMember(row);
    },

    listMembers: async (organizationId) =>
      (await run<MemberRow>(all, [...time.parameters(), organizationId])).map(toMember),
  };
}

function toMember(row: MemberRow): Member {
  return {
    userId: row.user_id,
    email: row.email,
    role: row.role,
    service: row.service,
    joinedAt: row.joined_at,
    opened: row.opened_at !== null,
    invitedUntil: row.invited_until,
  };
}
