import { cutText, inOneLine, withoutInvisible } from '../../../../runtime/src/pure/text.ts';
import type { Seal } from '../../domain/cursor.ts';
import { rateLimited } from '../../domain/errors.ts';
import type { IdGenerator } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import {
  type Mail,
  type MailError,
  type Mailer,
  mailAttemptsMax,
  mailCounters,
  mailRetryMs,
} from '../../domain/mail.ts';
import type { Log, Telemetry } from '../../domain/telemetry.ts';
import { iso } from '../../domain/time.ts';
import type { ClaimedMail, Store } from '../../storage/port/store.ts';
import { auditNote, type Change } from '../audit-note.ts';
import type { CountUse } from '../count-use.ts';

const atOnceMax = 4;
/** Longer than an attempt may take. An email of a killed process is sent after this long. */
const leaseMs = 60_000;

/** The token's hash is sealed with the link: a link that was replaced does not open. */
export function sealLink(seal: Seal, tokenHash: string, link: string): string {
  return seal.seal(`mail ${tokenHash}`, link);
}

interface MailLimitNeeds {
  readonly countUse: CountUse;
  readonly limits: Pick<Limits, 'mailsPerPerson' | 'mailsPerDay'>;
  readonly sha256: (text: string) => string;
  /** Whether a mail server is configured. */
  readonly sendsMail: boolean;
}

export type LimitMails = ReturnType<typeof createMailLimit>;

export function createMailLimit({ countUse, limits, sha256, sendsMail }: MailLimitNeeds) {
  return limitMails;

  /** Counts an email, and rejects it above the limits of the person or the organization. The operator has no limit. */
  async function limitMails({ organizationId, initiator }: Change, email: string): Promise<void> {
    const { authority } = initiator;
    if (!sendsMail || authority.kind === 'operator') return;
    const { mailsPerPerson: personMax, mailsPerDay: organizationMax } = limits;
    const limit = { period: 'mail', personMax, organizationMax } as const;
    const { invitations } = mailCounters(email, sha256);
    const outcome = await countUse(organizationId, invitations, limit, authority);
    if (outcome === 'counted') return;
    const limitReached =
      outcome.over === 'person'
        ? `This person was already sent ${personMax} invitations today.`
        : `Your organization has reached the limit of ${organizationMax} invitations by email a day.`;
    throw rateLimited(`${limitReached} The limit resets at 00:00 UTC.`, Math.ceil(outcome.resetMs / 1000));
  }
}

interface MailDeliveryNeeds {
  readonly store: Pick<Store, 'claimMail' | 'settleMail'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly seal: Seal;
  readonly mailer: Pick<Mailer, 'send'>;
  readonly telemetry: Pick<Telemetry, 'mailAttempted'>;
}

export type SendMails = ReturnType<typeof createMailDelivery>;

export function createMailDelivery({ store, ids, seal, mailer, telemetry }: MailDeliveryNeeds) {
  return sendMails;

  /** Sends the emails that are due, each at least once: again if the process is killed after the server accepted it. */
  async function sendMails(log: Log, signal: AbortSignal): Promise<void> {
    const sending = new Set<Promise<void>>();
    let failure: unknown;
    let after = '';
    while (!signal.aborted && failure === undefined) {
      const mail = await store.claimMail(after, leaseMs);
      if (mail === undefined) break;
      after = mail.organizationId;
      const sent = sendMail(mail, log, signal)
        .catch((error: unknown) => {
          failure = error;
        })
        .finally(() => sending.delete(sent));
      sending.add(sent);
      if (sending.size >= atOnceMax) await Promise.race(sending);
    }
    await Promise.all(sending);
    if (failure !== undefined) throw failure;
  }

  async function sendMail(mail: ClaimedMail, log: Log, signal: AbortSignal): Promise<void> {
    const { organizationId, userId, tokenHash, sealedLink, attempts } = mail;
    const fields = { organization_id: organizationId, user_id: userId, attempts };
    const link = seal.open(`mail ${tokenHash}`, sealedLink);
    // A node of an earlier release, which does not send emails, has replaced the invitation.
    if (link === undefined) return giveUp(mail, 'The invitation was replaced.');
    try {
      await mailer.send(invitationMail(mail, link), signal);
    } catch (error) {
      const { message, permanent } = error as MailError;
      if (permanent || attempts >= mailAttemptsMax) {
        log.warn({ ...fields, reason: message }, 'failed to deliver email, giving up');
        telemetry.mailAttempted('failed');
        // The reason of another failure would show the operator's network to the organization.
        return giveUp(mail, permanent ? message : 'The email could not be sent for a day.');
      }
      if (!signal.aborted) {
        log.warn({ ...fields, reason: message }, 'failed to send email, retrying later');
        telemetry.mailAttempted('retried');
      }
      return store.settleMail(mail, {
        state: 'waiting',
        retryMs: signal.aborted ? 0 : mailRetryMs(attempts),
      });
    }
    telemetry.mailAttempted('sent');
    log.info(fields, 'email sent');
    await store.settleMail(mail, { state: 'sent' });
  }

  function giveUp(mail: ClaimedMail, reason: string): Promise<void> {
    const initiator = { authority: { kind: 'skein' }, traceId: ids.event() } as const;
    const note = auditNote(ids, initiator, 'member.mail-failed', mail.userId, { reason });
    return store.settleMail(mail, { state: 'failed', note });
  }
}

const nameLengthMax = 100;

function invitationMail(mail: ClaimedMail, link: string): Mail {
  const { email, byOperator, resets, expiresAt, tokenHash } = mail;
  // Control characters could end a header line.
  const name = cutText(withoutInvisible(inOneLine(mail.organizationName)), nameLengthMax);
  const until = `${iso(expiresAt).slice(0, 16).replace('T', ' ')} UTC`;
  const [subject, reason, action] = resets
    ? [
        `Set a new password for ${name}`,
        `${byOperator ? 'The operator of Skein created a link' : 'Someone, probably you, asked for a link'} to set a new password. You sign in to ${name} as ${email}.`,
        'Set a new password',
      ]
    : [
        `Join ${name}`,
        `You have been invited to join ${name} on Skein as ${email}.`,
        'Accept the invitation',
      ];
  const note = `The link works once, until ${until}. Do not forward it: anyone who uses it first can sign in as you.`;
  const unexpected = `If you did not expect this email, ${resets && byOperator ? 'tell the operator' : 'you can ignore it'}.`;
  return {
    to: email,
    id: tokenHash.slice(0, 32),
    subject,
    text: `${reason}\n\n${action}:\n${link}\n\n${note}\n\n${unexpected}\n`,
    html: [reason, `<a href="${escaped(link)}">${action}</a>`, note, unexpected]
      .map((part) => `<p>${part.startsWith('<a ') ? part : escaped(part)}</p>`)
      .join('\n'),
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
