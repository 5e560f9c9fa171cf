import { invitationTerms, planAcceptance } from '../../domain/account.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { Accounts, Invitation } from '../store.ts';
import { insertNote, noteValues, writeNote, writeNotes } from './audit.ts';
import type { Database, Run } from './database.ts';
import {
  addPassword,
  lockUser,
  passwordsOf,
  provePassword,
  removeUnusedPasswords,
  voidPasswords,
} from './passwords.ts';
import { sql, statement } from './sql.ts';
import { now } from './store-time.ts';

type InvitationRow = Omit<Invitation, 'terms' | 'passwords'> & { identityBound: boolean };

// The membership is locked until the commit: a removal of the member waits, and then removes the invitation too.
const create = statement('create-invitation')`WITH invited AS (
    SELECT user_id, service FROM member
    WHERE organization_id = :organizationId AND user_id = :userId FOR KEY SHARE
  ), made AS (
    INSERT INTO invitation (organization_id, user_id, token_hash, by_operator, resets, created_at, expires_at)
    SELECT :organizationId, user_id, :tokenHash, :byOperator, :resets, at, at + :keepMs::bigint
    FROM invited, (SELECT ${now} AS at) AS moment WHERE NOT service
    ON CONFLICT (organization_id, user_id) DO UPDATE SET token_hash = excluded.token_hash,
      by_operator = excluded.by_operator, resets = excluded.resets,
      created_at = excluded.created_at, expires_at = excluded.expires_at
    RETURNING created_at
  ), noted AS (${insertNote(sql`made`, sql`:organizationId`, sql`created_at`)})
  SELECT service, (SELECT created_at FROM made) AS at FROM invited`;
const find = statement('find-invitation')`
  SELECT invitation.organization_id AS "organizationId", organization.name AS "organizationName",
    invitation.user_id AS "userId", email, by_operator AS "byOperator", resets,
    EXISTS (SELECT FROM identity WHERE identity.user_id = invitation.user_id) AS "identityBound"
  FROM invitation JOIN member USING (organization_id, user_id)
    JOIN organization ON organization.id = invitation.organization_id
    JOIN "user" ON "user".id = invitation.user_id
  WHERE token_hash = :tokenHash AND expires_at > ${now}`;
const findInvited = statement('find-invited')`
  SELECT organization_id AS "organizationId", user_id AS "userId" FROM invitation WHERE token_hash = :tokenHash`;
/** Before the invitation, which is the order of a member's removal. */
const lockMember = statement('lock-member')`SELECT FROM member
  WHERE organization_id = :organizationId AND user_id = :userId FOR NO KEY UPDATE`;
const remove = statement('use-invitation')`DELETE FROM invitation WHERE token_hash = :tokenHash`;
const openMembership = statement(
  'open-membership',
)`UPDATE member SET opened_at = ${now}, password_id = :passwordId
  WHERE organization_id = :organizationId AND user_id = :userId`;
const endSessions = statement('end-sessions-of-user')`DELETE FROM session WHERE user_id = :userId`;
const closeOthers = statement(
  'close-other-memberships',
)`UPDATE member SET opened_at = NULL, password_id = NULL
  WHERE user_id = :userId AND organization_id <> :organizationId AND opened_at IS NOT NULL
  RETURNING organization_id AS "organizationId"`;

export function postgresInvitations(
  database: Database,
): Pick<Accounts, 'createInvitation' | 'findInvitation' | 'acceptInvitation'> {
  const { run, time } = database;
  return {
    async createInvitation(organizationId, invitation, note) {
      const values = { ...invitation, ...noteValues(note), organizationId };
      const [row] = await run<{ service: boolean; at: number | null }>(create, values);
      if (row === undefined) return 'not-a-member';
      if (row.service) return 'service-account';
      time.see(row.at!);
      return 'created';
    },

    findInvitation: async (tokenHash) => (await read(run, tokenHash))?.invitation,

    // The invitation is read again once the user is locked: of two concurrent acceptances, the second sees the first.
    acceptInvitation: (tokenHash, acceptance, notes) =>
      database.transaction(async (runHere) => {
        type Invited = { organizationId: OrganizationId; userId: UserId };
        const [invited] = await runHere<Invited>(findInvited, { tokenHash });
        if (invited === undefined) return { outcome: 'missing' };
        const { organizationId, userId } = invited;
        await lockUser(runHere, userId);
        await runHere(lockMember, { organizationId, userId });
        const found = await read(runHere, tokenHash);
        if (found === undefined) return { outcome: 'missing' };
        const plan = planAcceptance(found.invitation, found.invitee, acceptance);
        if (plan === undefined) return { outcome: 'refused' };
        await runHere(remove, { tokenHash });
        const closed = await voidPasswords(runHere, userId, plan.voided);
        if (plan.startsOver) {
          await runHere(endSessions, { userId });
          closed.push(...(await runHere<Invited>(closeOthers, { userId, organizationId })));
        }
        if (plan.nowProven !== undefined) await provePassword(runHere, plan.nowProven);
        if (plan.added !== undefined) await addPassword(runHere, userId, plan.added);
        await runHere(openMembership, { organizationId, userId, passwordId: plan.openedWith });
        await removeUnusedPasswords(runHere, userId);
        const elsewhere = closed.filter((other) => other.organizationId !== organizationId);
        await writeNotes(runHere, elsewhere, notes.closed);
        await writeNote(runHere, time, organizationId, notes.accepted);
        return { outcome: 'accepted', userId, organizationId };
      }),
  };
}

async function read(run: Run, tokenHash: string) {
  const [row] = await run<InvitationRow>(find, { tokenHash });
  if (row === undefined) return undefined;
  const { identityBound, ...link } = row;
  const passwords = await passwordsOf(run, link.userId);
  const invitee = { identityBound, passwords };
  const invitation: Invitation = { ...link, terms: invitationTerms(link, invitee), passwords };
  return { invitation, invitee };
}
