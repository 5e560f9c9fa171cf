import { type LimitVariable, limitEntries, timerMsMax } from '../domain/limits.ts';
import { editDistance } from '../domain/text.ts';
import { cacheBytesDefault } from '../storage/kept-objects.ts';
import {
  anyText,
  asciiWord,
  days,
  httpUrl,
  InvalidValue,
  line,
  mailSender,
  networks,
  oneOf,
  optional,
  type Parser,
  rootUrl,
  smtpUrl,
  storeUrl,
  urlWithPlainPath,
  wholeNumber,
} from './parsers.ts';

interface Variable<T> {
  /** Used if the variable is not set, or set to an empty string. */
  readonly default: string;
  readonly parse: Parser<T>;
  /** The description in docs/operating.md. */
  readonly meaning: string;
}

function variable<T>(fallback: string, parse: Parser<T>, meaning: string): Variable<T> {
  return { default: fallback, parse, meaning };
}

/** A variable without a default. */
function unset<T>(parse: Parser<T>, meaning: string): Variable<T | undefined> {
  return variable('', optional(parse), meaning);
}

const port = wholeNumber(0, 65_535);

const limitVariables = Object.fromEntries(
  limitEntries.flatMap(([, { variable: name, default: value, min = 1, max, sentence }]) =>
    name === undefined ? [] : [[name, variable(String(value), wholeNumber(min, max), sentence)]],
  ),
) as Record<LimitVariable, Variable<number>>;

/** Every variable with its default, its parser and its meaning. A test compares docs/operating.md with this table. */
export const variables = {
  SKEIN_HOST: variable('127.0.0.1', anyText, 'Address to listen on'),
  SKEIN_PORT: variable('8080', port, 'Port to listen on; 0 picks a free one'),
  SKEIN_METRICS_PORT: unset(
    port,
    'Port for `/metrics`, in the Prometheus format; 0 picks a free one. Default: none',
  ),
  SKEIN_DATABASE_URL: variable(
    'sqlite:./data/skein.db',
    storeUrl,
    'The store: `sqlite:` and a file, or `postgres://USER:PASSWORD@HOST/DATABASE`; separate several hosts by commas',
  ),
  SKEIN_DATABASE_CONNECTIONS: variable(
    '10',
    wholeNumber(1, 1000),
    'Maximum number of connections of one process to PostgreSQL',
  ),
  SKEIN_CACHE_BYTES: variable(
    String(cacheBytesDefault),
    wholeNumber(0, 2 ** 40),
    'Memory for threads and pages that have not changed since they were read; 0 turns this cache off',
  ),
  SKEIN_BASE_URL: unset(
    rootUrl,
    'Public URL of the service; every `threadUrl` starts with it. Default: the listening address',
  ),
  SKEIN_AUTH_URL: unset(
    urlWithPlainPath,
    'URL at which applications exchange their credentials, followed by `/oauth2/token`. Default: the base URL',
  ),
  SKEIN_MODEL: variable(
    'extractive',
    anyText,
    'The model that writes replies: `extractive`, `openai-compatible/NAME`, `anthropic/NAME`, or `scripted` for tests',
  ),
  SKEIN_MODEL_BASE_URL: unset(
    httpUrl,
    "URL of the language model's provider, as in `http://127.0.0.1:11434/v1`",
  ),
  SKEIN_MODEL_API_KEY: unset(asciiWord, 'API key for the provider; never logged and never shown'),
  SKEIN_REPLY_LEASE_MS: variable(
    '15000',
    wholeNumber(100, timerMsMax),
    'How long a worker holds a reply without renewing its lease',
  ),
  SKEIN_REPLY_THREADS: unset(
    wholeNumber(1, 64),
    'Threads for the embedded model, ranking and corroboration. Default: the number of processors minus 1, from 1 to 4',
  ),
  SKEIN_DRAIN_MS: unset(
    wholeNumber(0, 600_000),
    'How long `/readyz` returns 503 before the service stops listening; up to twice as long while requests still arrive. Default: 5000 if `/readyz` was ever requested, otherwise 0',
  ),
  SKEIN_TRUSTED_PROXIES: variable(
    '',
    networks,
    'Proxies whose `X-Forwarded-For` is trusted, as in `10.0.0.7,10.1.0.0/16`. Default: none',
  ),
  SKEIN_OIDC_ISSUER: unset(
    httpUrl,
    'The OpenID provider for single sign-on, as in `https://login.example`. Default: none',
  ),
  SKEIN_OIDC_CLIENT_ID: variable('', anyText, 'Client id of Skein at the provider'),
  SKEIN_OIDC_CLIENT_SECRET: variable('', anyText, 'Its client secret; never logged and never shown'),
  SKEIN_OIDC_NAME: variable('single sign-on', line(60), 'Name of the provider on the sign-in page'),
  SKEIN_SMTP_URL: unset(
    smtpUrl,
    'Mail server that sends invitations: `smtps://USER:PASSWORD@HOST:PORT`, or `smtp://…` for STARTTLS. Default: none',
  ),
  SKEIN_MAIL_FROM: unset(
    mailSender,
    'Sender of these emails, as in `Skein <skein@example.org>`; required with `SKEIN_SMTP_URL`',
  ),
  SKEIN_RETENTION_DELETED_THREADS_DAYS: variable(
    'forever',
    // A deletion can be undone for ten minutes, and running walks look for threads that were renamed in the last day.
    days(1),
    'Days until a deleted thread is removed for good, with its messages; at least 1',
  ),
  SKEIN_RETENTION_AUDIT_DAYS: variable(
    'forever',
    days(1),
    'Days until an audit log entry is removed; at least 1',
  ),
  SKEIN_RETENTION_USAGE_DAYS: variable(
    'forever',
    days(1),
    'Days until the request counts of a day are removed; at least 1',
  ),
  SKEIN_RETENTION_REQUESTS_DAYS: variable(
    '7',
    days(1),
    'Days until an entry of the request log is removed, or `forever`; at least 1',
  ),
  SKEIN_RETENTION_IDEMPOTENCY_DAYS: variable(
    '0',
    days(0),
    'Days until an expired idempotency key is removed, or `forever`',
  ),
  SKEIN_RETENTION_SESSIONS_DAYS: variable(
    '0',
    days(0),
    'Days until an expired console session is removed, or `forever`',
  ),
  SKEIN_LOG_LEVEL: variable(
    'info',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
  ),
  SKEIN_TLS_CERT: variable(
    '',
    anyText,
    'Certificate file (PEM); with `SKEIN_TLS_KEY` the service uses HTTPS',
  ),
  SKEIN_TLS_KEY: variable('', anyText, 'Private key file (PEM)'),
  SKEIN_API_KEY: unset(
    asciiWord,
    'Only for `skein ask`, `skein threads` and `skein mcp`: the API key to use at `SKEIN_BASE_URL`',
  ),
  SKEIN_CLIENT_ID: unset(
    asciiWord,
    'Only for these commands, instead of a key: the client id of an application, which can only read',
  ),
  SKEIN_CLIENT_SECRET: unset(asciiWord, "The application's client secret"),
  ...limitVariables,
};

export type VariableName = keyof typeof variables;
export type VariableValue<Name extends VariableName> = ReturnType<(typeof variables)[Name]['parse']>;

/** An invalid setting. The message names the variable and says what is valid. */
export class ConfigError extends Error {
  constructor(name: VariableName, fault: string) {
    super(`${name} ${fault}.`);
    this.name = 'ConfigError';
  }
}

export function parseVariable<Name extends VariableName>(
  name: Name,
  text: string | undefined,
): VariableValue<Name> {
  const { default: fallback, parse } = variables[name];
  return parseAs(name, text || fallback, parse as Parser<VariableValue<Name>>);
}

/** A sentence for each variable that looks like one of ours but has no meaning, such as `SKEIN_PROT`. */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  const unknown = Object.keys(environment).filter((name) => /^SKEIN_/i.test(name) && !(name in variables));
  return unknown.map((name) => {
    const distances = Object.keys(variables).map(
      (known) => [editDistance(name.toUpperCase(), known), known] as const,
    );
    const [distance, nearest] = distances.reduce((best, next) => (next[0] < best[0] ? next : best));
    const advice = distance <= name.length / 4 ? `did you mean ${nearest}?` : 'no setting has this name.';
    return `${name} is ignored: ${advice}`;
  });
}

/** Parses the value of a variable with another parser than the one in the table. */
export function parseAs<T>(name: VariableName, text: string, parse: Parser<T>): T {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof InvalidValue) throw new ConfigError(name, error.message);
    throw error;
  }
}
