import type { UserId } from '../../domain/id.ts';
import type { Member, MemberRole } from '../../domain/organization.ts';
import type { Members } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

interface MemberRow {
  user_id: UserId;
  email: string;
  role: MemberRole;
  service: number;
  joined_at: number;
}

const selectMember =
  'SELECT user_id, email, role, service, joined_at FROM member JOIN user ON user.id = user_id';

export function sqliteMembers(database: Database, commits: CommitQueue): Members {
  const organizationExists = database.prepare<[string]>('SELECT 1 FROM organization WHERE id = ?');
  // The no-op update makes RETURNING answer for a known address, too.
  const upsertUser = database
    .prepare<[string, string, number], UserId>(
      `INSERT INTO user (id, email, created_at) VALUES (?, ?, ?)
       ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id`,
    )
    .pluck();
  const insertMember = database.prepare<[string, string, string, number, number]>(
    `INSERT INTO member (organization_id, user_id, role, service, joined_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const deleteMember = database
    .prepare<[string, string], UserId>(
      `DELETE FROM member WHERE organization_id = ? AND user_id = (SELECT id FROM user WHERE email = ?)
       RETURNING user_id`,
    )
    .pluck();
  const revokeKeysOfUser = database.prepare<[number, string, string]>(
    'UPDATE api_key SET revoked_at = ? WHERE organization_id = ? AND user_id = ? AND revoked_at IS NULL',
  );
  const byEmail = database.prepare<[string, string], MemberRow>(
    `${selectMember} WHERE organization_id = ? AND email = ?`,
  );
  const all = database.prepare<[string], MemberRow>(
    `${selectMember} WHERE organization_id = ? ORDER BY joined_at, user_id`,
  );

  return {
    addMember: (organizationId, { candidateUserId, email, role, service }) =>
      commits.durable((clock) => {
        if (organizationExists.get(organizationId) === undefined) return { outcome: 'organization-missing' };
        const userId = upsertUser.get(candidateUserId, email, clock.now())!;
        const { changes } = insertMember.run(organizationId, userId, role, Number(service), clock.now());
        return changes === 1 ? { outcome: 'added', userId } : { outcome: 'already-member' };
      }),

    removeMember: (organizationId, email) =>
      commits.durable((clock) => {
        const userId = deleteMember.get(organizationId, email);
        if (userId === undefined) return { outcome: 'missing' };
        const { changes } = revokeKeysOfUser.run(clock.now(), organizationId, userId);
        return { outcome: 'removed', userId, keysRevoked: changes };
      }),

    async findMember(organizationId, email) {
      const row = byEmail.get(organizationId, email);
      return row && toMember(row);
    },

    async listMembers(organizationId) {
      return all.all(organizationId).map(toMember);
    },
  };
}

function toMember(row: MemberRow): Member {
  return {
    userId: row.user_id,
    email: row.email,
    role: row.role,
    service: row.service === 1,
    joinedAt: row.joined_at,
  };
}
