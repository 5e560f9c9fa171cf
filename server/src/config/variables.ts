import { editDistance } from '../../../runtime/src/pure/text.ts';
import { cacheBytesDefault, type LimitVariable, limitEntries, timerMsMax } from '../domain/limits.ts';
import type { Parser } from './parsers.ts';
import * as parse from './parsers.ts';

interface Variable<T> {
  /** Used if the variable is not set, or set to an empty string. */
  readonly default: string;
  readonly parse: Parser<T>;
}

function variable<T>(fallback: string, parser: Parser<T>): Variable<T> {
  return { default: fallback, parse: parser };
}

/** A variable without a default. */
function unset<T>(parser: Parser<T>): Variable<T | undefined> {
  return variable('', parse.optional(parser));
}

const port = parse.wholeNumber(0, 65_535);
const logLevel = parse.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent');

const limitVariables = Object.fromEntries(
  limitEntries.flatMap(([, { variable: name, default: value, min = 1, max }]) =>
    name === undefined ? [] : [[name, variable(String(value), parse.wholeNumber(min, max))]],
  ),
) as Record<LimitVariable, Variable<number>>;

/** Every variable with its default and its parser. docs/settings.md explains each; a test compares its tables with this. */
export const variables = {
  SKEIN_HOST: variable('127.0.0.1', parse.anyText),
  SKEIN_PORT: variable('8080', port),
  SKEIN_METRICS_PORT: unset(port),
  SKEIN_DATABASE_URL: variable('sqlite:./data/skein.db', parse.storeUrl),
  SKEIN_DATABASE_CONNECTIONS: variable('10', parse.wholeNumber(1, 1000)),
  SKEIN_CACHE_BYTES: variable(String(cacheBytesDefault), parse.wholeNumber(0, 2 ** 40)),
  SKEIN_BASE_URL: unset(parse.rootUrl),
  SKEIN_AUTH_URL: unset(parse.urlWithPlainPath),
  SKEIN_MODEL: variable('extractive', parse.anyText),
  SKEIN_MODEL_BASE_URL: unset(parse.httpUrl),
  SKEIN_MODEL_API_KEY: unset(parse.asciiWord),
  SKEIN_REPLY_LEASE_MS: variable('15000', parse.wholeNumber(100, timerMsMax)),
  SKEIN_REPLY_THREADS: unset(parse.wholeNumber(1, 64)),
  SKEIN_DRAIN_MS: unset(parse.wholeNumber(0, 600_000)),
  SKEIN_TRUSTED_PROXIES: variable('', parse.networks),
  SKEIN_OIDC_ISSUER: unset(parse.issuerUrl),
  SKEIN_OIDC_CLIENT_ID: unset(parse.anyText),
  SKEIN_OIDC_CLIENT_SECRET: unset(parse.anyText),
  SKEIN_OIDC_NAME: variable('single sign-on', parse.line(60)),
  SKEIN_SMTP_URL: unset(parse.smtpUrl),
  SKEIN_MAIL_FROM: unset(parse.mailSender),
  // A deletion can be undone for ten minutes, and running walks look for threads that were renamed in the last day.
  SKEIN_RETENTION_DELETED_THREADS_DAYS: variable('forever', parse.days(1)),
  SKEIN_RETENTION_AUDIT_DAYS: variable('forever', parse.days(1)),
  SKEIN_RETENTION_USAGE_DAYS: variable('forever', parse.days(1)),
  SKEIN_RETENTION_REQUESTS_DAYS: variable('7', parse.days(1)),
  SKEIN_RETENTION_IDEMPOTENCY_DAYS: variable('0', parse.days(0)),
  SKEIN_RETENTION_SESSIONS_DAYS: variable('0', parse.days(0)),
  SKEIN_LOG_LEVEL: variable('info', logLevel),
  SKEIN_TLS_CERT: unset(parse.fileContent),
  SKEIN_TLS_KEY: unset(parse.fileContent),
  SKEIN_API_KEY: unset(parse.asciiWord),
  SKEIN_CLIENT_ID: unset(parse.asciiWord),
  SKEIN_CLIENT_SECRET: unset(parse.asciiWord),
  ...limitVariables,
};

export type VariableName = keyof typeof variables;
type Value<Name extends VariableName> = ReturnType<(typeof variables)[Name]['parse']>;

/** Reads a variable. Throws a `ConfigError` if its value is invalid. */
export type Read = <Name extends VariableName>(name: Name) => Value<Name>;

/** An invalid setting. The message names the variable and says what is valid. */
export class ConfigError extends Error {
  constructor(name: VariableName, fault: string) {
    super(`${name} ${fault}.`);
    this.name = 'ConfigError';
  }
}

export function readFrom(environment: NodeJS.ProcessEnv): Read {
  return <Name extends VariableName>(name: Name) => {
    const { default: fallback, parse: parser } = variables[name];
    return parseAs(name, environment[name] || fallback, parser as Parser<Value<Name>>);
  };
}

/** The values of variables that need each other, under the keys of `names`. Undefined if none of them is set. */
export function readTogether<Names extends Readonly<Record<string, VariableName>>>(read: Read, names: Names) {
  const all = Object.entries(names).map(([key, name]) => ({ key, name, value: read(name) }));
  const given = all.find(({ value }) => value !== undefined);
  const missing = all.find(({ value }) => value === undefined);
  if (given === undefined) return undefined;
  if (missing) throw new ConfigError(missing.name, `must be set together with ${given.name}`);
  return Object.fromEntries(all.map(({ key, value }) => [key, value])) as {
    readonly [Key in keyof Names]: NonNullable<Value<Names[Key]>>;
  };
}

/** A warning for each variable that looks like a setting but is none, such as `SKEIN_PROT`. */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  const unknown = Object.keys(environment).filter((name) => /^SKEIN_/i.test(name) && !(name in variables));
  return unknown.map((name) => {
    const distances = Object.keys(variables).map(
      (known) => [editDistance(name.toUpperCase(), known), known] as const,
    );
    const [distance, nearest] = distances.reduce((best, next) => (next[0] < best[0] ? next : best));
    const advice = distance <= name.length / 4 ? `: did you mean ${nearest}?` : '';
    return `ignoring unknown setting ${name}${advice}`;
  });
}

/** Parses the value of a variable with another parser than the one in the table. */
export function parseAs<T>(name: VariableName, text: string, parser: Parser<T>): T {
  try {
    return parser(text);
  } catch (error) {
    if (error instanceof parse.InvalidValue) throw new ConfigError(name, error.message);
    throw error;
  }
}
