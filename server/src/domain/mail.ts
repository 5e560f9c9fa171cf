import type { Signal } from '../../../runtime/src/pure/fair-queue.ts';
import type { UserId } from './id.ts';

export interface Mail {
  readonly to: string;
  /** The same for every attempt, so that the recipient's server can drop a duplicate. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `implicit`: from the first byte. `required`: by STARTTLS. `offered`: by STARTTLS if the server offers it. */
  readonly tls: 'implicit' | 'required' | 'offered' | 'off';
  readonly auth: { readonly user: string; readonly pass: string } | undefined;
}

export interface Sender {
  readonly name: string;
  readonly address: string;
}

export interface Mailer {
  /** Resolves once the mail server has accepted the mail. Otherwise rejects with a `MailError`. */
  send(mail: Mail, signal?: Signal): Promise<void>;
  /** Connects and signs in, and sends nothing. Rejects with a `MailError` if an email could not be sent. */
  check(): Promise<void>;
}

/** Why an email was not sent. The message contains no address and no text of the email, so that it can be logged. */
export class MailError extends Error {
  /** Whether the server rejected this recipient or this email for good. Other failures are worth another attempt. */
  readonly permanent: boolean;

  constructor(message: string, permanent = false) {
    super(message);
    this.permanent = permanent;
  }
}

/** Together with the waits below, an email is tried for about a day. */
export const mailAttemptsMax = 30;

/** How long to wait after this many failed attempts: 10 s, then twice as long each time, up to an hour. */
export function mailRetryMs(attempts: number): number {
  return Math.min(10_000 * 2 ** (attempts - 1), 3_600_000);
}

/** Used instead of a user id to count emails. */
export interface MailCounters {
  readonly invitations: UserId;
  /**
   * Counted separately from invitations, so that password links cannot use up an organization's limit. Known devices have
   * their own counts.
   */
  readonly passwordLinks: UserId;
}

/** Counts the password links that a known device of the person asks for. A purge finds it by its start. */
export function deviceCounter({ passwordLinks }: MailCounters, deviceId: string): UserId {
  return `${passwordLinks} ${deviceId}` as UserId;
}

/** Emails are counted by address, so that removing and adding a person again does not reset the count. */
export function mailCounters(email: string, sha256: (text: string) => string): MailCounters {
  return {
    invitations: sha256(email) as UserId,
    passwordLinks: sha256(`password link ${email}`) as UserId,
  };
}
