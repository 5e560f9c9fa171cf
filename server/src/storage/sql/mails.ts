import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { ClaimedMail, Mails } from '../store.ts';
import { writeNote } from './audit.ts';
import { statement } from './sql.ts';
import { count, row, run, type Transactions } from './work.ts';

const findDue = statement('find-due-mail')`
  SELECT organization_id AS "organizationId", user_id AS "userId" FROM invitation
  WHERE organization_id > :after AND mail_state = 'waiting' AND mail_due_at <= :now AND expires_at > :now
  ORDER BY organization_id, mail_due_at LIMIT 1 FOR UPDATE SKIP LOCKED`;
const claim = statement('claim-mail')`
  UPDATE invitation SET mail_due_at = :now + CAST(:leaseMs AS bigint), mail_attempts = mail_attempts + 1
  WHERE organization_id = :organizationId AND user_id = :userId`;
const read = statement('read-claimed-mail')`
  SELECT organization_id AS "organizationId", organization.name AS "organizationName", user_id AS "userId", email,
    token_hash AS "tokenHash", sealed_link AS "sealedLink", resets, by_operator AS "byOperator", expires_at AS "expiresAt",
    mail_attempts AS attempts
  FROM invitation JOIN organization ON organization.id = organization_id JOIN "user" ON "user".id = user_id
  WHERE organization_id = :organizationId AND user_id = :userId`;
const settle = statement('settle-mail')`
  UPDATE invitation SET mail_state = :state,
    sealed_link = CASE WHEN :state = 'waiting' THEN sealed_link END,
    mail_due_at = CASE WHEN :state = 'waiting' THEN :now + CAST(:retryMs AS bigint) END
  WHERE organization_id = :organizationId AND user_id = :userId AND token_hash = :tokenHash
    AND mail_state = 'waiting' AND (:state = 'sent' OR mail_attempts = :attempts) RETURNING user_id`;

export function mails(store: Transactions): Mails {
  return {
    claimMail: (after, leaseMs) =>
      store.writeUnsynced(function* () {
        type Due = { organizationId: OrganizationId; userId: UserId };
        let due = yield* row<Due>(findDue, { after });
        if (due === undefined && after !== '') due = yield* row<Due>(findDue, { after: '' });
        if (due === undefined) return undefined;
        yield* run(claim, { ...due, leaseMs });
        return yield* row<ClaimedMail>(read, { ...due });
      }),

    settleMail: ({ organizationId, userId, tokenHash, attempts }, outcome) =>
      store.write(function* () {
        const { state } = outcome;
        const retryMs = state === 'waiting' ? outcome.retryMs : 0;
        const settled = yield* count(settle, { organizationId, userId, tokenHash, attempts, state, retryMs });
        if (settled > 0 && state === 'failed') yield* writeNote(organizationId, outcome.note);
      }),
  };
}
