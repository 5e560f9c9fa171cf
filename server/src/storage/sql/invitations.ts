import { type Invitee, invitationTerms, planAcceptance } from '../../domain/account.ts';
import type { ClaimedMail, Invitation, Invitations, Membership } from '../port/store.ts';
import {
  closeMemberships,
  endSessions,
  isUsed,
  lockUser,
  readInvitee,
  readMemberships,
  removeResets,
  voidPasswords,
} from './accounts.ts';
import { writeNote, writeNotes } from './audit.ts';
import { authorized, keepMember, lockMember } from './authority.ts';
import { addUse, removeMailUses } from './requests.ts';
import { type Sql, sql, statement } from './sql.ts';
import { count, method, row, rows, run, type Transactions, type Work } from './work.ts';

type Closed = Pick<Membership, 'organizationId'>;

const replace = statement('replace-invitation')`
  INSERT INTO invitation (organization_id, user_id, token_hash, by_operator, resets, requested, created_at, expires_at,
    mail_state, sealed_link, mail_due_at)
  VALUES (:organizationId, :userId, :tokenHash, :byOperator, :resets, :requested, :now, :now + CAST(:keepMs AS bigint),
    CAST(:mailState AS text), :sealedLink, :now)
  ON CONFLICT (organization_id, user_id, requested) DO UPDATE SET token_hash = excluded.token_hash,
    by_operator = excluded.by_operator, resets = excluded.resets,
    created_at = excluded.created_at, expires_at = excluded.expires_at, mail_state = excluded.mail_state,
    sealed_link = excluded.sealed_link, mail_due_at = excluded.mail_due_at, mail_attempts = 0`;
const findLive = statement('find-live-requested-link')`SELECT 1 FROM invitation
  WHERE organization_id = :organizationId AND user_id = :userId AND requested AND expires_at > :now
    AND coalesce(mail_state, '') <> 'failed'`;
const selectInvitation = (more: Sql) => sql`
  SELECT organization_id AS "organizationId", organization.name AS "organizationName", user_id AS "userId", email,
    by_operator AS "byOperator", resets, ${more}
  FROM invitation JOIN organization ON organization.id = organization_id JOIN "user" ON "user".id = user_id
  WHERE token_hash = :tokenHash`;
const find = statement('find-invitation', { booleans: ['byOperator', 'resets', 'shownToAdmin'] })`
  ${selectInvitation(sql`NOT by_operator AND mail_state IS NULL AS "shownToAdmin"`)} AND expires_at > :now`;
const use = statement('use-invitation')`DELETE FROM invitation WHERE token_hash = :tokenHash`;
const open = statement('open-membership')`UPDATE member SET opened_at = :now, password_id = :passwordId
  WHERE organization_id = :organizationId AND user_id = :userId`;
const closeOthers = statement('close-other-memberships')`
  UPDATE member SET opened_at = NULL, password_id = NULL
  WHERE user_id = :userId AND organization_id <> :organizationId AND opened_at IS NOT NULL
  RETURNING organization_id AS "organizationId"`;
const addPassword = statement('add-password')`
  INSERT INTO password (id, user_id, hash, proven) VALUES (:id, :userId, :hash, :proven)`;
const prove = statement('prove-password')`UPDATE password SET proven = true WHERE id = :passwordId`;
const proveMemberships = statement('prove-memberships')`
  UPDATE member SET password_id = NULL WHERE password_id = :passwordId
  RETURNING organization_id AS "organizationId"`;
const removeUnused = statement('remove-unused-passwords')`DELETE FROM password
  WHERE user_id = :userId AND NOT ${isUsed}`;

function* read(tokenHash: string): Work<Invitation | undefined> {
  const found = yield* row<Omit<Invitation, 'terms' | keyof Invitee>>(find, { tokenHash });
  if (found === undefined) return undefined;
  const invitation = { ...found, ...(yield* readInvitee(found.organizationId, found.userId)) };
  return { ...invitation, terms: invitationTerms(invitation, invitation) };
}

const findDue = statement('find-due-mail')`
  SELECT token_hash AS "tokenHash" FROM invitation
  WHERE organization_id > :after AND mail_state = 'waiting' AND mail_due_at <= :now AND expires_at > :now
  ORDER BY organization_id, mail_due_at LIMIT 1 FOR UPDATE SKIP LOCKED`;
const claim = statement('claim-mail')`
  UPDATE invitation SET mail_due_at = :now + CAST(:leaseMs AS bigint), mail_attempts = mail_attempts + 1
  WHERE token_hash = :tokenHash`;
const readClaimed = statement('read-claimed-mail', { booleans: ['byOperator', 'resets'] })`${selectInvitation(
  sql`token_hash AS "tokenHash", sealed_link AS "sealedLink", expires_at AS "expiresAt", mail_attempts AS attempts`,
)}`;
const settle = statement('settle-mail')`
  UPDATE invitation SET mail_state = :state,
    sealed_link = CASE WHEN :state = 'waiting' THEN sealed_link END,
    mail_due_at = CASE WHEN :state = 'waiting' THEN :now + CAST(:retryMs AS bigint) END
  WHERE token_hash = :tokenHash AND mail_state = 'waiting' AND (:state = 'sent' OR mail_attempts = :attempts) RETURNING user_id`;

type DueMail = Pick<ClaimedMail, 'tokenHash'>;

export const invitations = (store: Transactions): Invitations => ({
  createInvitation: authorized(store.write, function* (organizationId, { requested, ...invitation }, note) {
    const { userId, byOperator, sealedLink } = invitation;
    // Concurrent requests wait here, and then find the link.
    if (requested !== undefined) yield* lockUser(userId);
    const member = yield* row<{ service: boolean }>(keepMember, { organizationId, userId });
    if (member === undefined) return 'not-a-member';
    if (member.service) return 'service-account';
    if (requested !== undefined) {
      if ((yield* count(findLive, { organizationId, userId })) > 0) return 'live';
      yield* run(removeMailUses, { organizationId });
      const { prompts } = yield* addUse({ organizationId, period: 'mail', userId: requested.person });
      if (prompts > requested.personMax) return 'person-limit';
    }
    const link = { ...invitation, shownToAdmin: !byOperator && sealedLink === null };
    if (invitationTerms(link, yield* readInvitee(organizationId, userId)) === 'operator')
      return 'operator-only';
    const mailState = sealedLink === null ? null : 'waiting';
    yield* run(replace, { ...invitation, requested: requested !== undefined, organizationId, mailState });
    yield* writeNote(organizationId, note);
    return 'created';
  }),

  findInvitation: (tokenHash) => store.read(() => read(tokenHash)),

  // The invitation is read again once the user is locked: of two concurrent acceptances, the second sees the first.
  acceptInvitation: method(store.write, function* (tokenHash, acceptance, notes) {
    const invited = yield* read(tokenHash);
    if (invited === undefined) return 'missing';
    const { organizationId, userId } = invited;
    yield* lockUser(userId);
    // Locks the member before the invitation, in the same order as the removal of a member.
    yield* run(lockMember, { organizationId, userId });
    const found = yield* read(tokenHash);
    if (found === undefined) return 'missing';
    const plan = planAcceptance(found, found, acceptance);
    if (plan === undefined) return 'refused';
    yield* run(use, { tokenHash });
    if (plan.endsResets) yield* run(removeResets, { userId });
    const settleMemberships = plan.keepsMemberships ? proveMemberships : closeMemberships;
    const settled = yield* voidPasswords(userId, plan.voided, settleMemberships);
    if (plan.endsSessions) yield* endSessions(userId, { proof: 'sso' });
    if (plan.closesOthers) settled.push(...(yield* rows<Closed>(closeOthers, { userId, organizationId })));
    if (plan.nowProven !== undefined) {
      yield* run(prove, { passwordId: plan.nowProven });
      yield* run(proveMemberships, { passwordId: plan.nowProven });
    }
    if (plan.added !== undefined) yield* run(addPassword, { ...plan.added, userId });
    yield* run(open, { organizationId, userId, passwordId: plan.openedWith });
    yield* run(removeUnused, { userId });
    const { entered } = yield* readMemberships(userId, { proof: 'sso' });
    const keysRevoked = new Map(settled.map((each) => [each.organizationId, each.keysRevoked]));
    for (const { organizationId: id } of found.resets ? entered : [invited]) {
      const revoked = keysRevoked.get(id);
      const detail = { ...notes.accepted.detail, ...(revoked && { keysRevoked: revoked }) };
      yield* writeNote(id, { ...notes.accepted, detail });
    }
    const stillOpen = new Set(entered.map((each) => each.organizationId));
    const closed = settled.filter((each) => !stillOpen.has(each.organizationId));
    yield* writeNotes(closed, notes.closed);
    return 'accepted';
  }),

  claimMail: method(store.writeUnsynced, function* (after, leaseMs) {
    let due = yield* row<DueMail>(findDue, { after });
    if (due === undefined && after !== '') due = yield* row<DueMail>(findDue, { after: '' });
    if (due === undefined) return undefined;
    yield* run(claim, { ...due, leaseMs });
    return yield* row<ClaimedMail>(readClaimed, { ...due });
  }),

  settleMail: method(store.write, function* ({ organizationId, tokenHash, attempts }, outcome) {
    const { state } = outcome;
    const retryMs = state === 'waiting' ? outcome.retryMs : 0;
    const settled = yield* count(settle, { tokenHash, attempts, state, retryMs });
    if (settled > 0 && state === 'failed') yield* writeNote(organizationId, outcome.note);
  }),
});
