import { Socket } from 'node:net';
import type { Mail } from 'nodemailer';
import type { SMTPSentMessageInfo, SMTPTransportOptions } from 'nodemailer/lib/smtp-transport';
import { MailError, type Mailer, type MailServer, type Sender } from '../domain/mail.ts';

/** For a whole email: a server that responds byte by byte cannot delay the other emails any longer. */
const sendMsMax = 20_000;
/** Without TLS. A server sends a few kilobytes. The library queues blank lines without a limit and takes seconds to drop them. */
const receivedBytesMax = 65_536;

/** Sends each email over its own connection. */
export function createSmtpMailer({ from, tls, ...server }: MailServer & { from: Sender }): Mailer {
  const options: SMTPTransportOptions = {
    ...server,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    // Otherwise, emails would be sent without signing in if the server offers no login.
    forceAuth: server.auth !== undefined,
    // Less than `sendMsMax`: an address that is found later would open the ended connection.
    dnsTimeout: sendMsMax / 2,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return {
    async send({ to, id, subject, text, html }, signal) {
      if (/[\s\p{C}<>()[\]\\,;:"]/u.test(to))
        throw new MailError('the address cannot be used in an email', true);
      const domain = from.address.split('@').at(-1);
      const messageId = `<${id}@${domain}>`;
      const headers = { 'Auto-Submitted': 'auto-generated' };
      const mail = { from, to: { name: '', address: to }, messageId, headers, subject, text, html };
      await connected(options, signal, (transport) => transport.sendMail(mail));
    },

    check: () => connected(options, undefined, (transport) => transport.verify()),
  };
}

async function connected(
  options: SMTPTransportOptions,
  stop: Parameters<Mailer['send']>[1],
  use: (transport: Mail<SMTPSentMessageInfo, SMTPTransportOptions>) => Promise<unknown>,
): Promise<void> {
  // Loaded on use: a service without mail needs no library for it.
  const { createTransport } = await import('nodemailer');
  const socket = new Socket();
  let isConnected = false;
  socket.once('connect', () => {
    isConnected = true;
  });
  const isSilent = () => isConnected && socket.bytesRead === 0 && options.secure !== true;
  const ended = Promise.withResolvers<never>();
  const end = (reason: string) => {
    ended.reject(new MailError(reason));
    socket.destroy();
  };
  let receivedBytes = 0;
  socket.on('data', ({ length }) => {
    receivedBytes += length;
    if (receivedBytes > receivedBytesMax) end(`the mail server sent more than ${receivedBytesMax} bytes`);
  });
  const tooLate = `the mail server did not finish within ${sendMsMax / 1000} s`;
  const timer = setTimeout(() => end(isSilent() ? noGreeting : tooLate), sendMsMax);
  const stopped = () => end('the service is stopping');
  stop?.addEventListener('abort', stopped);
  if (stop?.aborted) stopped();
  try {
    await Promise.race([use(createTransport({ ...options, socket })), ended.promise]);
  } catch (error) {
    throw isSilent() && !(error instanceof MailError)
      ? new MailError(noGreeting)
      : toMailError(error as SmtpError, options.secure === true);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', stopped);
    socket.destroy();
  }
}

const noGreeting =
  'the mail server sent no greeting: if its port starts with TLS, as 465 does, use smtps:// instead of smtp:// in SKEIN_SMTP_URL';
const noTls =
  'the port of the mail server does not start with TLS: use smtp:// instead of smtps:// in SKEIN_SMTP_URL';

interface SmtpError extends Error {
  readonly command?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

/** Keeps only the codes of an answer, because its text may repeat the address or the link. */
function toMailError(error: SmtpError, startsWithTls: boolean): MailError {
  if (error instanceof MailError) return error;
  const { command = 'the connection', responseCode, response = '' } = error;
  if (responseCode === undefined && response !== '')
    return new MailError(`the mail server gave an invalid answer to ${command.split(' ', 1)[0]}`);
  if (responseCode === undefined) {
    // What OpenSSL says if the peer does not speak TLS.
    const isPlain = startsWithTls && /wrong version number|packet length too long/.test(error.message);
    return new MailError(isPlain ? noTls : error.message.slice(0, 200));
  }
  const status = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3}) /.exec(response)?.[1];
  const answer = status === undefined ? `${responseCode}` : `${responseCode} ${status}`;
  // 5yz is permanent (RFC 5321 §4.2.1), but of its reasons only an address (5.1) or a mailbox (5.2) is about the person.
  // The others are about settings or policies, which the operator can correct.
  const isAboutPerson = status === undefined || /^5\.[12]\./.test(status);
  const permanent = responseCode >= 500 && isAboutPerson && /^(RCPT TO|DATA)$/.test(command);
  return new MailError(`the mail server answered ${answer} to ${command}`, permanent);
}
