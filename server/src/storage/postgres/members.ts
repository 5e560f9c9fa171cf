import type { UserId } from '../../domain/id.ts';
import type { Member, MemberRole } from '../../domain/organization.ts';
import type { Members } from '../store.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';

interface MemberRow {
  user_id: UserId;
  email: string;
  role: MemberRole;
  service: boolean;
  joined_at: number;
}

const selectMember = `SELECT user_id, email, role, service, joined_at
  FROM member JOIN "user" ON "user".id = user_id WHERE organization_id = $1`;

// The no-op update makes RETURNING answer for a known address, too.
const add = {
  name: 'add-member',
  text: `WITH person AS (
      INSERT INTO "user" (id, email, created_at)
      SELECT $4, $5, ${now} WHERE EXISTS (SELECT FROM organization WHERE id = $3)
      ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id
    ), added AS (
      INSERT INTO member (organization_id, user_id, role, service, joined_at)
      SELECT $3, id, $6, $7, ${now} FROM person ON CONFLICT DO NOTHING RETURNING user_id, joined_at
    )
    SELECT person.id AS person, added.user_id AS added, joined_at FROM person LEFT JOIN added ON true`,
};
const remove = {
  name: 'remove-member',
  text: `DELETE FROM member USING "user"
    WHERE organization_id = $1 AND user_id = "user".id AND email = $2 RETURNING user_id`,
};
const revokeKeysOfUser = {
  name: 'revoke-keys-of-user',
  text: `UPDATE api_key SET revoked_at = ${now}
    WHERE organization_id = $3 AND user_id = $4 AND revoked_at IS NULL RETURNING id`,
};
const byEmail = { name: 'find-member', text: `${selectMember} AND email = $2` };
const all = { name: 'list-members', text: `${selectMember} ORDER BY joined_at, user_id` };

export function postgresMembers(database: Database): Members {
  const { run, time } = database;
  return {
    async addMember(organizationId, { candidateUserId, email, role, service }) {
      const [row] = await run<{ person: UserId; added: UserId | null; joined_at: number }>(add, [
        ...time.parameters(),
        organizationId,
        candidateUserId,
        email,
        role,
        service,
      ]);
      if (row === undefined) return { outcome: 'organization-missing' };
      if (row.added === null) return { outcome: 'already-member' };
      time.see(row.joined_at);
      return { outcome: 'added', userId: row.added };
    },

    // Two statements: a key that was made while the first waited for its member must be seen by the second.
    removeMember: (organizationId, email) =>
      database.transaction(async (runHere) => {
        const [gone] = await runHere<{ user_id: UserId }>(remove, [organizationId, email]);
        if (gone === undefined) return { outcome: 'missing' };
        const revoked = await runHere(revokeKeysOfUser, [...time.parameters(), organizationId, gone.user_id]);
        return { outcome: 'removed', userId: gone.user_id, keysRevoked: revoked.length };
      }),

    async findMember(organizationId, email) {
      const [row] = await run<MemberRow>(byEmail, [organizationId, email]);
      return row && toMember(row);
    },

    listMembers: async (organizationId) => (await run<MemberRow>(all, [organizationId])).map(toMember),
  };
}

function toMember(row: MemberRow): Member {
  return {
    userId: row.user_id,
    email: row.email,
    role: row.role,
    service: row.service,
    joinedAt: row.joined_at,
  };
}
