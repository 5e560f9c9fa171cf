import { invitationTerms, planAcceptance } from '../../domain/account.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Accounts, Invitation } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database, Stored } from './database.ts';
import { passwordTable } from './passwords.ts';

type InvitationRow = Stored<Omit<Invitation, 'terms' | 'passwords'> & { identityBound: boolean }>;

export function sqliteInvitations(
  database: Database,
  commits: CommitQueue,
): Pick<Accounts, 'createInvitation' | 'findInvitation' | 'acceptInvitation'> {
  const audit = auditWriter(database);
  const service = database
    .prepare<[string, string], number>('SELECT service FROM member WHERE organization_id = ? AND user_id = ?')
    .pluck();
  const replace = database.prepare(
    `INSERT INTO invitation (organization_id, user_id, token_hash, by_operator, resets, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (organization_id, user_id) DO UPDATE SET token_hash = excluded.token_hash,
       by_operator = excluded.by_operator, resets = excluded.resets,
       created_at = excluded.created_at, expires_at = excluded.expires_at`,
  );
  const find = database.prepare<[string, number], InvitationRow>(
    `SELECT invitation.organization_id AS organizationId, organization.name AS organizationName,
       invitation.user_id AS userId, email, by_operator AS byOperator, resets,
       EXISTS (SELECT 1 FROM identity WHERE identity.user_id = invitation.user_id) AS identityBound
     FROM invitation JOIN member USING (organization_id, user_id)
       JOIN organization ON organization.id = invitation.organization_id
       JOIN user ON user.id = invitation.user_id
     WHERE token_hash = ? AND expires_at > ?`,
  );
  const use = database.prepare<[string]>('DELETE FROM invitation WHERE token_hash = ?');
  const open = database.prepare<[number, string | null, string, string]>(
    'UPDATE member SET opened_at = ?, password_id = ? WHERE organization_id = ? AND user_id = ?',
  );
  const closeOthers = database
    .prepare<[string, string], OrganizationId>(
      `UPDATE member SET opened_at = NULL, password_id = NULL
       WHERE user_id = ? AND organization_id <> ? AND opened_at IS NOT NULL RETURNING organization_id`,
    )
    .pluck();
  const endSessions = database.prepare<[string]>('DELETE FROM session WHERE user_id = ?');
  const passwords = passwordTable(database);

  const read = (tokenHash: string, now: number) => {
    const row = find.get(tokenHash, now);
    return row && toInvitation(row);
  };

  return {
    createInvitation: (organizationId, { tokenHash, userId, keepMs, byOperator, resets }, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const isService = service.get(organizationId, userId);
        if (isService === undefined) return 'not-a-member';
        if (isService === 1) return 'service-account';
        replace.run(organizationId, userId, tokenHash, Number(byOperator), Number(resets), now, now + keepMs);
        audit(organizationId, note, now);
        return 'created';
      }),

    findInvitation: async (tokenHash) => read(tokenHash, commits.now())?.invitation,

    acceptInvitation: (tokenHash, acceptance, notes) =>
      commits.durable((clock) => {
        const now = clock.now();
        const found = read(tokenHash, now);
        if (found === undefined) return { outcome: 'missing' };
        const { invitation, invitee } = found;
        const plan = planAcceptance(invitation, invitee, acceptance);
        if (plan === undefined) return { outcome: 'refused' };
        const { organizationId, userId } = invitation;
        use.run(tokenHash);
        const closed = passwords.void(userId, plan.voided, now);
        if (plan.startsOver) {
          endSessions.run(userId);
          closed.push(...closeOthers.all(userId, organizationId));
        }
        if (plan.nowProven !== undefined) passwords.prove(plan.nowProven);
        if (plan.added !== undefined) passwords.add(userId, plan.added, now);
        open.run(now, plan.openedWith, organizationId, userId);
        passwords.removeUnused(userId);
        for (const other of closed) if (other !== organizationId) audit(other, notes.closed, now);
        audit(organizationId, notes.accepted, now);
        return { outcome: 'accepted', userId, organizationId };
      }),
  };

  function toInvitation({ byOperator, resets, identityBound, ...row }: InvitationRow) {
    const invitee = { identityBound: identityBound === 1, passwords: passwords.of(row.userId) };
    const link = { byOperator: byOperator === 1, resets: resets === 1 };
    const terms = invitationTerms(link, invitee);
    const invitation: Invitation = { ...row, ...link, terms, passwords: invitee.passwords };
    return { invitation, invitee };
  }
}
