import type { UserId } from '../../domain/id.ts';
import type { Member } from '../../domain/organization.ts';
import type { Accounts, Members } from '../store.ts';
import { keyIsLive } from './api-keys.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import { type Database, type Stored, withFlags } from './database.ts';

type MemberRow = Stored<Member>;

/** The first parameter is the time. */
const selectMember = `SELECT member.user_id AS userId, email, role, service, joined_at AS joinedAt,
    opened_at IS NOT NULL AS opened, expires_at AS invitedUntil
  FROM member JOIN user ON user.id = member.user_id
    LEFT JOIN invitation ON invitation.organization_id = member.organization_id
      AND invitation.user_id = member.user_id AND expires_at > ?
  WHERE member.organization_id = ?`;

export function sqliteMembers(
  database: Database,
  commits: CommitQueue,
): Members & Pick<Accounts, 'setMemberRole'> {
  const audit = auditWriter(database);
  const organizationExists = database.prepare<[string]>('SELECT 1 FROM organization WHERE id = ?');
  // The update changes nothing, but RETURNING then also returns a row for a known address.
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
  const deleteMember = database.prepare<[string, string]>(
    'DELETE FROM member WHERE organization_id = ? AND user_id = ?',
  );
  const revokeKeysOfUser = database.prepare<[number, string, string, number]>(
    `UPDATE api_key SET revoked_at = ? WHERE organization_id = ? AND user_id = ? AND ${keyIsLive}`,
  );
  const setRole = database.prepare<[string, string, string]>(
    'UPDATE member SET role = ? WHERE organization_id = ? AND user_id = ?',
  );
  const hasOtherAdmin = database.prepare<[string, string, number]>(
    `SELECT 1 FROM member WHERE organization_id = ? AND user_id <> ? AND role = 'admin' AND service = 0
       AND (opened_at IS NOT NULL OR ? = 0) LIMIT 1`,
  );
  const byEmail = database.prepare<[number, string, string], MemberRow>(`${selectMember} AND email = ?`);
  const byUser = database.prepare<[number, string, string], MemberRow>(
    `${selectMember} AND member.user_id = ?`,
  );
  const all = database.prepare<[number, string], MemberRow>(
    `${selectMember} ORDER BY joined_at, member.user_id`,
  );

  const hasThreads = database.prepare<[string, string]>(
    'SELECT 1 FROM thread WHERE organization_id = ? AND user_id = ? AND deleted = 0 LIMIT 1',
  );

  /** An invited person who has not joined yet does not count as another admin. */
  function isLastAdmin(organizationId: string, { role, service, userId, opened }: MemberRow): boolean {
    if (role !== 'admin' || service === 1) return false;
    return hasOtherAdmin.get(organizationId, userId, opened) === undefined;
  }

  return {
    addMember: (organizationId, { candidateUserId, email, role, service, withoutThreads = false }, note) =>
      commits.durable((clock) => {
        if (organizationExists.get(organizationId) === undefined) return { outcome: 'organization-missing' };
        const userId = upsertUser.get(candidateUserId, email, clock.now())!;
        const isMember = byUser.get(clock.now(), organizationId, userId) !== undefined;
        if (withoutThreads && !isMember && hasThreads.get(organizationId, userId) !== undefined) {
          return { outcome: 'has-threads' };
        }
        const { changes } = insertMember.run(organizationId, userId, role, Number(service), clock.now());
        if (changes === 0) return { outcome: 'already-member' };
        audit(organizationId, { ...note, subject: userId }, clock.now());
        return { outcome: 'added', userId };
      }),

    // The invitation is removed with the membership.
    removeMember: (organizationId, email, keepAdmin, note) =>
      commits.durable((clock) => {
        const member = byEmail.get(clock.now(), organizationId, email);
        if (member === undefined) return { outcome: 'missing' };
        if (keepAdmin && isLastAdmin(organizationId, member)) return { outcome: 'last-admin' };
        const { userId } = member;
        deleteMember.run(organizationId, userId);
        const { changes } = revokeKeysOfUser.run(clock.now(), organizationId, userId, clock.now());
        audit(organizationId, note, clock.now());
        return { outcome: 'removed', userId, keysRevoked: changes };
      }),

    setMemberRole: (organizationId, userId, role, note) =>
      commits.durable((clock) => {
        const member = byUser.get(clock.now(), organizationId, userId);
        if (member === undefined) return 'missing';
        if (member.role === role) return 'changed';
        if (isLastAdmin(organizationId, member)) return 'last-admin';
        setRole.run(role, organizationId, userId);
        audit(organizationId, note, clock.now());
        return 'changed';
      }),

    async findMember(organizationId, email) {
      const row = byEmail.get(commits.now(), organizationId, email);
      return row && toMember(row);
    },

    async findMemberById(organizationId, userId) {
      const row = byUser.get(commits.now(), organizationId, userId);
      return row && toMember(row);
    },

    listMembers: async (organizationId) => all.all(commits.now(), organizationId).map(toMember),
  };
}

function toMember(row: MemberRow): Member {
  return withFlags<Member>(row, 'service', 'opened');
}
