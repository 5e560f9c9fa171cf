import type { OrganizationId, UserId } from '../../domain/id.ts';
import { closing } from '../audit-row.ts';
import type { Accounts, Invitation } from '../store.ts';
import { keepPasswordText } from './accounts.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { endSessionsText } from './sessions.ts';

interface InvitationRow {
  organization_id: OrganizationId;
  name: string;
  user_id: UserId;
  email: string;
  hash: string | null;
  choose: number;
}

/** Whoever can sign in already is never signed in as by another: only the operator may let the password be chosen anew. */
const mayChoose = `resets OR (hash IS NULL AND NOT EXISTS (
  SELECT 1 FROM identity WHERE identity.user_id = invitation.user_id))`;

export function sqliteInvitations(
  database: Database,
  commits: CommitQueue,
): Pick<Accounts, 'createInvitation' | 'findInvitation' | 'acceptInvitation'> {
  const audit = auditWriter(database);
  const service = database
    .prepare<[string, string], number>('SELECT service FROM member WHERE organization_id = ? AND user_id = ?')
    .pluck();
  // At most two, as for sessions.
  const forgetExpired = database.prepare<[string, number]>(
    `DELETE FROM invitation WHERE (organization_id, user_id) IN (
       SELECT organization_id, user_id FROM invitation
       WHERE organization_id = ? AND expires_at <= ? ORDER BY expires_at LIMIT 2)`,
  );
  const replace = database.prepare(
    `INSERT INTO invitation (organization_id, user_id, token_hash, resets, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (organization_id, user_id) DO UPDATE SET token_hash = excluded.token_hash, resets = excluded.resets,
       created_at = excluded.created_at, expires_at = excluded.expires_at`,
  );
  const find = database.prepare<[string, number], InvitationRow>(
    `SELECT invitation.organization_id, organization.name, invitation.user_id, email, hash,
       ${mayChoose} AS choose
     FROM invitation JOIN member USING (organization_id, user_id)
       JOIN organization ON organization.id = invitation.organization_id
       JOIN user ON user.id = invitation.user_id LEFT JOIN password ON password.user_id = invitation.user_id
     WHERE token_hash = ? AND expires_at > ?`,
  );
  const use = database.prepare<[string]>('DELETE FROM invitation WHERE token_hash = ?');
  const open = database.prepare<[number, string, string]>(
    'UPDATE member SET opened_at = ? WHERE organization_id = ? AND user_id = ?',
  );
  const closeOthers = database
    .prepare<[string, string], OrganizationId>(
      `UPDATE member SET opened_at = NULL WHERE user_id = ? AND organization_id <> ? AND opened_at IS NOT NULL
       RETURNING organization_id`,
    )
    .pluck();
  const keepPassword = database.prepare<[string, string, number]>(keepPasswordText);
  const endSessions = database.prepare<[string]>(endSessionsText);

  return {
    createInvitation: (organizationId, { tokenHash, userId, keepMs, resets }, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const isService = service.get(organizationId, userId);
        if (isService === undefined) return 'not-a-member';
        if (isService === 1) return 'service-account';
        forgetExpired.run(organizationId, now);
        replace.run(organizationId, userId, tokenHash, Number(resets), now, now + keepMs);
        audit(organizationId, note, now);
        return 'created';
      }),

    async findInvitation(tokenHash) {
      const row = find.get(tokenHash, commits.now());
      return row && toInvitation(row);
    },

    acceptInvitation: (tokenHash, { passwordHash }, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const row = find.get(tokenHash, now);
        if (row === undefined) return { outcome: 'missing' };
        if ((row.choose === 1) !== (passwordHash !== null)) return { outcome: 'refused' };
        const { organization_id: organizationId, user_id: userId } = row;
        use.run(tokenHash);
        if (passwordHash !== null) {
          keepPassword.run(userId, passwordHash, now);
          endSessions.all(userId);
          for (const other of closeOthers.all(userId, organizationId)) audit(other, closing(note), now);
        }
        open.run(now, organizationId, userId);
        audit(organizationId, note, now);
        return { outcome: 'accepted', userId, organizationId };
      }),
  };
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    organizationId: row.organization_id,
    organizationName: row.name,
    userId: row.user_id,
    email: row.email,
    password: row.choose === 1 ? 'choose' : 'prove',
    passwordHash: row.choose === 1 ? null : row.hash,
  };
}
