import { invitationTerms, planAcceptance } from '../../domain/account.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { closing } from '../audit-row.ts';
import type { Accounts, Invitation } from '../store.ts';
import { auditText, auditValues, writeNote, writeNotes } from './audit.ts';
import type { Database, Run } from './database.ts';
import {
  addPassword,
  forgetUnusedPasswords,
  lockUser,
  passwordsOf,
  provePassword,
  voidPasswords,
} from './passwords.ts';
import { now } from './store-time.ts';

interface InvitationRow {
  organization_id: OrganizationId;
  name: string;
  user_id: UserId;
  email: string;
  by_operator: boolean;
  resets: boolean;
  identity_bound: boolean;
}

// The membership is held until the commit: whoever removes the member waits, and takes the invitation along.
const create = {
  name: 'create-invitation',
  text: `WITH invited AS (
      SELECT user_id, service FROM member WHERE organization_id = $3 AND user_id = $4 FOR KEY SHARE
    ), made AS (
      INSERT INTO invitation (organization_id, user_id, token_hash, by_operator, resets, created_at, expires_at)
      SELECT $3, user_id, $5, $6, $7, at, at + $8::bigint
      FROM invited, (SELECT ${now} AS at) AS moment WHERE NOT service
      ON CONFLICT (organization_id, user_id) DO UPDATE SET token_hash = excluded.token_hash,
        by_operator = excluded.by_operator, resets = excluded.resets,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      RETURNING created_at
    ), noted AS (${auditText('made', '$3', 'created_at', 9)})
    SELECT service, (SELECT created_at FROM made) AS made_at FROM invited`,
};

const find = {
  name: 'find-invitation',
  text: `SELECT invitation.organization_id, organization.name, invitation.user_id, email, by_operator, resets,
      EXISTS (SELECT FROM identity WHERE identity.user_id = invitation.user_id) AS identity_bound
    FROM invitation JOIN member USING (organization_id, user_id)
      JOIN organization ON organization.id = invitation.organization_id
      JOIN "user" ON "user".id = invitation.user_id
    WHERE token_hash = $3 AND expires_at > ${now}`,
};
const findInvited = {
  name: 'find-invited',
  text: 'SELECT organization_id, user_id FROM invitation WHERE token_hash = $1',
};
/** In the order of a removal, which takes the invitation after the membership. */
const lockMember = {
  name: 'lock-member',
  text: 'SELECT FROM member WHERE organization_id = $1 AND user_id = $2 FOR NO KEY UPDATE',
};
const use = { name: 'use-invitation', text: 'DELETE FROM invitation WHERE token_hash = $1' };
const open = {
  name: 'open-membership',
  text: `UPDATE member SET opened_at = ${now}, password_id = $5 WHERE organization_id = $3 AND user_id = $4`,
};
const endSessions = { name: 'end-sessions-of-user', text: 'DELETE FROM session WHERE user_id = $1' };
const closeOthers = {
  name: 'close-other-memberships',
  text: `UPDATE member SET opened_at = NULL, password_id = NULL
    WHERE user_id = $1 AND organization_id <> $2 AND opened_at IS NOT NULL RETURNING organization_id`,
};

export function postgresInvitations(
  database: Database,
): Pick<Accounts, 'createInvitation' | 'findInvitation' | 'acceptInvitation'> {
  const { run, time } = database;
  return {
    async createInvitation(organizationId, { tokenHash, userId, keepMs, byOperator, resets }, note) {
      const values = [organizationId, userId, tokenHash, byOperator, resets, keepMs, ...auditValues(note)];
      const [row] = await run<{ service: boolean; made_at: number | null }>(create, [
        ...time.parameters(),
        ...values,
      ]);
      if (row === undefined) return 'not-a-member';
      if (row.service) return 'service-account';
      time.see(row.made_at!);
      return 'created';
    },

    findInvitation: async (tokenHash) => (await read(run, tokenHash))?.invitation,

    // What decides is read once the person is held: of two who set a password at once, one finds it set.
    acceptInvitation: (tokenHash, acceptance, note) =>
      database.transaction(async (runHere) => {
        const [invited] = await runHere<InvitationRow>(findInvited, [tokenHash]);
        if (invited === undefined) return { outcome: 'missing' };
        const { organization_id: organizationId, user_id: userId } = invited;
        await runHere(lockUser, [userId]);
        await runHere(lockMember, [organizationId, userId]);
        const found = await read(runHere, tokenHash);
        if (found === undefined) return { outcome: 'missing' };
        const plan = planAcceptance(found.invitation, found.invitee, acceptance);
        if (plan === undefined) return { outcome: 'refused' };
        await runHere(use, [tokenHash]);
        const closed = await voidPasswords(runHere, time, userId, plan.voided);
        if (plan.startsOver) {
          await runHere(endSessions, [userId]);
          const others = await runHere<InvitationRow>(closeOthers, [userId, organizationId]);
          closed.push(...others.map(({ organization_id }) => organization_id));
        }
        if (plan.nowProven !== undefined) await provePassword(runHere, plan.nowProven);
        if (plan.added !== undefined) await addPassword(runHere, time, userId, plan.added);
        await runHere(open, [...time.parameters(), organizationId, userId, plan.openedWith]);
        await forgetUnusedPasswords(runHere, userId);
        const elsewhere = closed.filter((id) => id !== organizationId).map((id) => ({ organizationId: id }));
        await writeNotes(runHere, time, elsewhere, closing(note));
        await writeNote(runHere, time, organizationId, note);
        return { outcome: 'accepted', userId, organizationId };
      }),
  };

  async function read(runHere: Run, tokenHash: string) {
    const [row] = await runHere<InvitationRow>(find, [...time.parameters(), tokenHash]);
    if (row === undefined) return undefined;
    const passwords = await passwordsOf(runHere, row.user_id);
    const invitee = { identityBound: row.identity_bound, passwords };
    const link = { byOperator: row.by_operator, resets: row.resets };
    const invitation: Invitation = {
      organizationId: row.organization_id,
      organizationName: row.name,
      userId: row.user_id,
      email: row.email,
      terms: invitationTerms(link, invitee),
      ...link,
      passwords,
    };
    return { invitation, invitee };
  }
}
