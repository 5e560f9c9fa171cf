import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { isStorable } from '../../../runtime/src/pure/text.ts';
import { isLoopback } from '../domain/address.ts';
import type { MailServer, Sender } from '../domain/mail.ts';
import { normalizeEmail } from '../domain/organization.ts';
import { postgresUrls } from '../storage/postgres/postgres-urls.ts';

/** Turns the text of a variable into its value. Throws `InvalidValue` if it cannot. */
export type Parser<T> = (text: string) => T;

/** Why a value is not valid: completes a sentence that starts with the name of the variable. */
export class InvalidValue extends Error {}

export type StoreChoice =
  | { readonly engine: 'sqlite'; readonly file: string }
  /** The URL contains a password: never show it. */
  | { readonly engine: 'postgres'; readonly url: string };

export const anyText: Parser<string> = (text) => text;

/** Undefined if the variable is not set. */
export function optional<T>(parse: Parser<T>): Parser<T | undefined> {
  return (text) => (text === '' ? undefined : parse(text));
}

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): Parser<number> {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidValue(`must be an integer from ${min} to ${max}, got '${text}'`);
  };
}

/** Undefined: forever. */
export function days(min: number): Parser<number | undefined> {
  return (text) => {
    if (text === 'forever') return undefined;
    const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min) return value;
    throw new InvalidValue(`must be a number of days from ${min} to 99999, or forever, got '${text}'`);
  };
}

export function oneOf(...choices: readonly string[]): Parser<string> {
  return (text) => {
    if (choices.includes(text)) return text;
    throw new InvalidValue(`must be one of ${choices.join(', ')}, got '${text}'`);
  };
}

export function line(lengthMax: number): Parser<string> {
  return (text) => {
    if (isStorable(text) && !/\p{Cc}/u.test(text) && [...text].length <= lengthMax) return text;
    throw new InvalidValue(`must be a single line of at most ${lengthMax} characters`);
  };
}

/** For secrets: the text is not repeated in the error. */
export const asciiWord: Parser<string> = (text) => {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new InvalidValue('must be printable ASCII characters without spaces');
};

export const storeUrl: Parser<StoreChoice> = (text) => {
  try {
    return readStoreUrl(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== 'uv_cwd') throw error;
    throw new InvalidValue(
      'is a relative path, but the current directory no longer exists: use an absolute path',
    );
  }
};

const readStoreUrl: Parser<StoreChoice> = (text) => {
  if (/^postgres(?:ql)?:\/\//.test(text)) {
    const read = postgresUrls(text);
    if ('fault' in read) throw new InvalidValue(read.fault);
    return { engine: 'postgres', url: text };
  }
  const file = /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
  // The URL may contain a password, so it is not repeated.
  if (file === undefined) {
    throw new InvalidValue('must be sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE');
  }
  return { engine: 'sqlite', file: resolve(file) };
};

/** Without a slash at the end. */
export const httpUrl: Parser<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    // The text may contain a secret, so it is not repeated.
    throw new InvalidValue('must be an http or https URL without a query or a fragment');
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidValue('must not contain a user name or a password');
  }
  return url.href.replace(/\/+$/, '');
};

/** The console, its cookies and single sign-on need the root of a host. */
export const rootUrl: Parser<string> = (text) => {
  const url = httpUrl(text);
  if (new URL(url).pathname === '/') return url;
  throw new InvalidValue(
    'must not have a path: give the service its own host name, for example https://skein.example',
  );
};

/** May have a path: the token endpoint is also served there. */
export const urlWithPlainPath: Parser<string> = (text) => {
  const url = httpUrl(text);
  if (/^\/?$|^(\/[\w.~-]+)+$/.test(new URL(url).pathname)) return url;
  throw new InvalidValue('must have a path of letters, digits and -._~ only');
};

/** As it is written: a slash at the end is part of an issuer's name. */
export const issuerUrl: Parser<string> = (text) => {
  const { protocol, hostname } = new URL(httpUrl(text));
  if (protocol === 'https:' || isLoopback(hostname)) return text;
  throw new InvalidValue('must be an https URL: http would let anyone forge identities');
};

export const fileContent: Parser<Buffer> = (file) => {
  try {
    return readFileSync(file);
  } catch {
    throw new InvalidValue(`points to a file that cannot be read: ${file}`);
  }
};

/** Where mail is sent. The text may contain a password, so it is not repeated. */
export const smtpUrl: Parser<MailServer> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const implicit = url?.protocol === 'smtps:';
  const isPlain = url?.search === '?tls=off' && !implicit;
  const isServer = url !== undefined && url.hostname !== '' && /^\/?$/.test(url.pathname) && url.hash === '';
  if (!isServer || !/^smtps?:$/.test(url.protocol) || !(url.search === '' || isPlain)) {
    throw new InvalidValue('must be smtps://USER:PASSWORD@HOST, or smtp://USER:PASSWORD@HOST for STARTTLS');
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const [user, pass] = [url.username, url.password].map(decoded);
  return {
    host,
    port: url.port === '' ? (implicit ? 465 : 587) : Number(url.port),
    tls: implicit ? 'implicit' : isPlain ? 'off' : isLoopback(host) ? 'offered' : 'required',
    auth: user === '' ? undefined : { user: user!, pass: pass! },
  };
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidValue('has an invalid percent escape in its user name or password: write % as %25');
  }
}

/** An email address, with or without a name: `Skein <skein@example.org>`. */
export const mailSender: Parser<Sender> = (text) => {
  const [, name = '', address = text] = /^([^<>"\p{Cc}]*)<([^<>]*)>$/u.exec(text) ?? [];
  if (normalizeEmail(address) !== undefined) return { name: name.trim(), address };
  throw new InvalidValue(
    "must be an email address, for example skein@example.org or 'Skein <skein@example.org>'",
  );
};

export const networks: Parser<readonly string[]> = (text) => {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const wrong = parts.find((part) => !isNetwork(part));
  if (wrong === undefined) return parts;
  throw new InvalidValue(
    `must be IP addresses or networks separated by commas, for example 10.0.0.7,10.1.0.0/16, got '${wrong}'`,
  );
};

/** An IP address, or a network as in `10.1.0.0/16`. /0 is rejected because it would trust every client. */
function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] as number;
  return bits > 0 && (prefix === undefined || (Number(prefix) > 0 && Number(prefix) <= bits));
}
