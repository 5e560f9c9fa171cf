import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { eventually } from './eventually.ts';
import { root } from './service.ts';

/** Self-signed, for localhost and 127.0.0.1. */
const certificate = join(root, 'tests/stand-ins/localhost-certificate.pem');
const key = join(root, 'tests/stand-ins/localhost-key.pem');
const login = { username: 'skein@example.org', password: 'p@ss:word/%' };

interface ReceivedMail {
  readonly to: string;
  readonly from: string;
  /** As it was transferred. */
  readonly raw: string;
  /** The link in its text. */
  readonly link: string;
}

/** What the server does with a recipient: accepts, rejects with a code, answers nothing, or closes the connection. */
export type Answer = 'accept' | number | 'hang' | 'drop';

/** A real SMTP server with TLS and AUTH. It keeps the emails in memory. */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  /** Recipients as they were named, including those of emails that were not accepted. */
  readonly named: string[] = [];
  answer: (recipient: string) => Answer = () => 'accept';
  readonly #server: SMTPServer;
  readonly #scheme: string;

  private constructor(options: SMTPServerOptions) {
    this.#scheme = options.secure ? 'smtps' : 'smtp';
    this.#server = new SMTPServer({
      cert: readFileSync(certificate),
      key: readFileSync(key),
      closeTimeout: 100,
      onAuth({ username, password }, _session, callback) {
        const isRight = username === login.username && password === login.password;
        callback(isRight ? null : new Error('wrong password'), { user: username });
      },
      onRcptTo: ({ address }, session, callback) => {
        this.named.push(address);
        const answer = this.answer(address);
        if (answer === 'accept') callback();
        else if (answer === 'drop') this.#drop(session.id);
        else if (answer !== 'hang') {
          const text = `<${address}> is not wanted here`;
          callback(Object.assign(new Error(text), { responseCode: answer }));
        }
      },
      onData: (stream, { envelope }, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const raw = Buffer.concat(chunks).toString();
          const link = /https?:\S+\/invitation#inv_[\w-]{32}/.exec(unquoted(raw))?.[0] ?? '';
          const from = envelope.mailFrom ? envelope.mailFrom.address : '';
          for (const { address: to } of envelope.rcptTo) this.received.push({ to, from, raw, link });
          callback();
        });
      },
      ...options,
    });
    this.#server.on('error', () => {});
  }

  static async start(options: SMTPServerOptions = { secure: true }, port = 0): Promise<MailServer> {
    const server = new MailServer(options);
    await new Promise<void>((resolve) => {
      server.#server.listen(port, '127.0.0.1', resolve);
    });
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  /** The settings of a service that sends through this server. */
  environment(host = 'localhost'): Record<string, string> {
    const user = `${encodeURIComponent(login.username)}:${encodeURIComponent(login.password)}`;
    return {
      SKEIN_SMTP_URL: `${this.#scheme}://${user}@${host}:${this.port}`,
      SKEIN_MAIL_FROM: 'Skein <skein@example.org>',
      NODE_EXTRA_CA_CERTS: certificate,
    };
  }

  /** Waits for an email to this person, and returns the last one. */
  async mailTo(address: string, count = 1): Promise<ReceivedMail> {
    const mails = await eventually(
      () => this.received.filter(({ to }) => to === address),
      ({ length }) => length >= count,
    );
    assert.equal(mails.length, count, `mails to ${address}`);
    return mails.at(-1)!;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(resolve);
    });
  }

  #drop(sessionId: string): void {
    for (const connection of this.#server.connections) {
      if (connection.session.id === sessionId) connection.close();
    }
  }
}

/** Undoes the quoted-printable encoding (RFC 2045 §6.7). */
function unquoted(text: string): string {
  const joined = text.replaceAll(/=\r?\n/g, '');
  return joined.replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}
