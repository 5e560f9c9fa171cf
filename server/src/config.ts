import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type Limits, type LimitVariable, limitEntries, limitValues } from './domain/limits.ts';
import { isLoopback } from './domain/loopback.ts';
import type { RetentionDays } from './domain/retention.ts';
import { isKeepable } from './domain/text.ts';
import { isNetwork } from './network.ts';
import { postgresUrls } from './storage/postgres-urls.ts';

/** Everything the environment decides. `variables` below is the one place that names and explains each. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Undefined: no metrics. */
  readonly metricsPort: number | undefined;
  readonly store: StoreChoice;
  readonly databaseConnections: number;
  /** Undefined: the address that the server listens on. */
  readonly baseUrl: string | undefined;
  /** Undefined: the base address. */
  readonly authUrl: string | undefined;
  readonly model: ModelChoice;
  readonly replyLeaseMs: number;
  /** Undefined: it depends on whether anyone asks for `/readyz`. */
  readonly drainMs: number | undefined;
  readonly limits: Limits;
  readonly replyThreads: number;
  /** Addresses and networks, whose word for where a request came from is believed. */
  readonly trustedProxies: readonly string[];
  /** Undefined: people sign in by password alone. */
  readonly sso: SsoChoice | undefined;
  readonly retention: RetentionDays;
  readonly logLevel: string;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
}

/** Where everything is kept. */
export type StoreChoice =
  | { readonly engine: 'sqlite'; readonly file: string }
  /** The address holds a password: it is never shown. */
  | { readonly engine: 'postgres'; readonly url: string };

/** The OpenID provider that people may sign in through. */
export interface SsoChoice {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What people know it by. */
  readonly name: string;
}

/** Who writes the replies. `name` is what the variable says. */
export type ModelChoice =
  | { readonly kind: 'extractive' | 'scripted'; readonly name: string }
  | {
      readonly kind: 'language';
      readonly name: string;
      readonly provider: 'openai-compatible' | 'anthropic';
      readonly model: string;
      readonly baseUrl: string | undefined;
      readonly apiKey: string | undefined;
    };

interface Variable {
  readonly default: string;
  readonly meaning: string;
}

/** What the commands on a service somewhere need to know. */
export interface RemoteConfig {
  readonly baseUrl: string;
  /** Undefined: the base address. */
  readonly authUrl: string | undefined;
  /** Before the application, where both are set: it can do more. */
  readonly apiKey: string | undefined;
  readonly application: { readonly clientId: string; readonly clientSecret: string } | undefined;
}

const limitVariables = Object.fromEntries(
  limitEntries.flatMap(([, { variable, default: value, sentence }]) =>
    variable === undefined ? [] : [[variable, { default: String(value), meaning: sentence }]],
  ),
) as Record<LimitVariable, Variable>;

/** The tables in docs/operating.md are checked against this one. */
export const variables = {
  SKEIN_HOST: { default: '127.0.0.1', meaning: 'Address to listen on' },
  SKEIN_PORT: { default: '8080', meaning: 'Port to listen on; 0 takes a free one' },
  SKEIN_METRICS_PORT: {
    default: '',
    meaning: 'Port for `/metrics`, in the Prometheus format; 0 takes a free one. Default: none',
  },
  SKEIN_DATABASE_URL: {
    default: 'sqlite:./data/skein.db',
    meaning:
      'The store: `sqlite:` and a file, or `postgres://USER:PASSWORD@HOST/DATABASE`; several hosts are separated by commas',
  },
  SKEIN_DATABASE_CONNECTIONS: {
    default: '10',
    meaning: 'Connections to PostgreSQL that one process keeps at most',
  },
  SKEIN_BASE_URL: {
    default: '',
    meaning: 'Where callers reach the service; begins every `threadUrl`. Default: the listening address',
  },
  SKEIN_AUTH_URL: {
    default: '',
    meaning:
      'Where applications exchange their credentials: `/oauth2/token` follows it. Default: the base address',
  },
  SKEIN_MODEL: {
    default: 'extractive',
    meaning:
      'Who writes the replies: `extractive`, `openai-compatible/NAME`, `anthropic/NAME`, or for tests `scripted`',
  },
  SKEIN_MODEL_BASE_URL: {
    default: '',
    meaning: "Where the language model's provider listens, as in `http://127.0.0.1:11434/v1`",
  },
  SKEIN_MODEL_API_KEY: { default: '', meaning: "The provider's key; never logged, never shown" },
  SKEIN_REPLY_LEASE_MS: {
    default: '15000',
    meaning: 'How long a worker holds a reply without a sign of life',
  },
  SKEIN_REPLY_THREADS: {
    default: '',
    meaning:
      'Threads for the embedded model, ranking and corroboration. Default: one per processor but one, from 1 to 4',
  },
  SKEIN_DRAIN_MS: {
    default: '',
    meaning:
      'How long `/readyz` says 503 at a stop before the service stops listening; up to twice as long while requests still arrive. Default: 5000 once anyone has asked for `/readyz`, else 0',
  },
  SKEIN_TRUSTED_PROXIES: {
    default: '',
    meaning:
      'Proxies in front, as in `10.0.0.7,10.1.0.0/16`: their `X-Forwarded-For` is believed. Default: none',
  },
  SKEIN_OIDC_ISSUER: {
    default: '',
    meaning: 'The OpenID provider for single sign-on, as in `https://login.example`. Default: none',
  },
  SKEIN_OIDC_CLIENT_ID: { default: '', meaning: 'What the provider knows Skein by' },
  SKEIN_OIDC_CLIENT_SECRET: { default: '', meaning: 'Its secret there; never logged, never shown' },
  SKEIN_OIDC_NAME: { default: 'single sign-on', meaning: 'What people know the provider by' },
  SKEIN_RETENTION_DELETED_THREADS_DAYS: {
    default: 'forever',
    meaning: 'Days after which a deleted thread is removed for good, with its messages; at least 1',
  },
  SKEIN_RETENTION_AUDIT_DAYS: {
    default: 'forever',
    meaning: 'Days after which an entry of the audit log is removed; at least 1',
  },
  SKEIN_RETENTION_USAGE_DAYS: {
    default: 'forever',
    meaning: 'Days after which the counts of requests of a day are removed; at least 1',
  },
  SKEIN_RETENTION_IDEMPOTENCY_DAYS: {
    default: '0',
    meaning: 'Days for which an idempotency key is kept after it has expired, or `forever`',
  },
  SKEIN_RETENTION_SESSIONS_DAYS: {
    default: '0',
    meaning: 'Days for which a session of the console is kept after it has expired, or `forever`',
  },
  SKEIN_LOG_LEVEL: {
    default: 'info',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
  },
  SKEIN_TLS_CERT: {
    default: '',
    meaning: 'Certificate file (PEM); with `SKEIN_TLS_KEY` the service speaks HTTPS',
  },
  SKEIN_TLS_KEY: { default: '', meaning: 'Private key file (PEM)' },
  SKEIN_API_KEY: {
    default: '',
    meaning: 'For `skein ask` and `skein threads` alone: the key that they use at `SKEIN_BASE_URL`',
  },
  SKEIN_CLIENT_ID: {
    default: '',
    meaning: 'For them, too, instead of a key: an application, which can only read',
  },
  SKEIN_CLIENT_SECRET: { default: '', meaning: 'Its secret' },
  ...limitVariables,
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof variables;

/** A setting that makes no sense. The message names the variable and says what would. */
export class ConfigError extends Error {
  constructor(name: VariableName, fault: string) {
    super(`${name} ${fault}.`);
    this.name = 'ConfigError';
  }
}

const ssoNameLengthMax = 60;
const remoteBaseUrl = 'http://127.0.0.1:8080';
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const text = (name: VariableName): string => environment[name] || variables[name].default;
  const whole = (name: VariableName, min: number, max = Number.MAX_SAFE_INTEGER): number => {
    const value = /^\d{1,15}$/.test(text(name)) ? Number(text(name)) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new ConfigError(name, `must be a whole number from ${min} to ${max}, and is '${text(name)}'`);
  };
  const choice = (name: VariableName, choices: readonly string[]): string => {
    if (choices.includes(text(name))) return text(name);
    throw new ConfigError(name, `must be one of ${choices.join(', ')}, and is '${text(name)}'`);
  };
  const days = (name: VariableName, min: number): number | undefined => {
    if (text(name) === 'forever') return undefined;
    const value = /^\d{1,5}$/.test(text(name)) ? Number(text(name)) : Number.NaN;
    if (value >= min) return value;
    throw new ConfigError(
      name,
      `must be a number of days from ${min} to 99999, or forever, and is '${text(name)}'`,
    );
  };

  return {
    host: text('SKEIN_HOST'),
    port: whole('SKEIN_PORT', 0, 65_535),
    metricsPort: text('SKEIN_METRICS_PORT') === '' ? undefined : whole('SKEIN_METRICS_PORT', 0, 65_535),
    store: readStore(text('SKEIN_DATABASE_URL')),
    databaseConnections: whole('SKEIN_DATABASE_CONNECTIONS', 1, 1000),
    baseUrl: readBaseUrl(text('SKEIN_BASE_URL')),
    authUrl: readAuthUrl(text('SKEIN_AUTH_URL')),
    model: readModel(text),
    // Timers hold at most 2^31 - 1 ms.
    replyLeaseMs: whole('SKEIN_REPLY_LEASE_MS', 100, 2 ** 31 - 1),
    replyThreads:
      text('SKEIN_REPLY_THREADS') === ''
        ? Math.min(4, Math.max(1, availableParallelism() - 1))
        : whole('SKEIN_REPLY_THREADS', 1, 64),
    drainMs: text('SKEIN_DRAIN_MS') === '' ? undefined : whole('SKEIN_DRAIN_MS', 0, 600_000),
    trustedProxies: readTrustedProxies(text('SKEIN_TRUSTED_PROXIES')),
    sso: readSso(text),
    retention: {
      // A deletion can be undone for ten minutes, and a walk under way looks for what was renamed in the last day.
      deletedThreads: days('SKEIN_RETENTION_DELETED_THREADS_DAYS', 1),
      audit: days('SKEIN_RETENTION_AUDIT_DAYS', 1),
      usage: days('SKEIN_RETENTION_USAGE_DAYS', 1),
      idempotency: days('SKEIN_RETENTION_IDEMPOTENCY_DAYS', 0),
      sessions: days('SKEIN_RETENTION_SESSIONS_DAYS', 0),
    },
    logLevel: choice('SKEIN_LOG_LEVEL', logLevels),
    limits: limitValues(({ variable, default: fixed, min = 1, max }) =>
      variable === undefined ? fixed : whole(variable as LimitVariable, min, max),
    ),
    tls: readTls(text('SKEIN_TLS_CERT'), text('SKEIN_TLS_KEY')),
  };
}

/** Nothing else is looked at: the settings of a service are none of its callers' business. */
export function readRemoteConfig(environment: NodeJS.ProcessEnv): RemoteConfig {
  const word = (name: VariableName): string | undefined => {
    const value = environment[name] || undefined;
    if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value;
    throw new ConfigError(name, 'must be one word of ASCII characters');
  };
  const clientId = word('SKEIN_CLIENT_ID');
  const clientSecret = word('SKEIN_CLIENT_SECRET');
  if (clientSecret === undefined && clientId !== undefined) {
    throw new ConfigError('SKEIN_CLIENT_SECRET', 'must be set with SKEIN_CLIENT_ID');
  }
  return {
    baseUrl: readUrl('SKEIN_BASE_URL', environment.SKEIN_BASE_URL ?? '') ?? remoteBaseUrl,
    authUrl: readUrl('SKEIN_AUTH_URL', environment.SKEIN_AUTH_URL ?? ''),
    apiKey: word('SKEIN_API_KEY'),
    application:
      clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret },
  };
}

export function readStore(url: string): StoreChoice {
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const read = postgresUrls(url);
    if ('fault' in read) throw new ConfigError('SKEIN_DATABASE_URL', read.fault);
    return { engine: 'postgres', url };
  }
  const file = /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1];
  // The address may hold a password: it is not repeated.
  if (file === undefined) {
    throw new ConfigError(
      'SKEIN_DATABASE_URL',
      'must be sqlite: and a file, as in sqlite:./data/skein.db, or postgres://USER:PASSWORD@HOST/DATABASE',
    );
  }
  return { engine: 'sqlite', file: resolve(file) };
}

function readUrl(
  name: 'SKEIN_BASE_URL' | 'SKEIN_AUTH_URL' | 'SKEIN_MODEL_BASE_URL' | 'SKEIN_OIDC_ISSUER',
  text: string,
): string | undefined {
  if (text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    // Whatever is wrong with it, it may hold a secret.
    throw new ConfigError(name, 'must be an http or https address, without query and fragment');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError(name, 'must not hold a user or a password');
  }
  return url.href.replace(/\/+$/, '');
}

/** The web application, its cookies and its single sign-on need the root of a host. */
function readBaseUrl(text: string): string | undefined {
  const url = readUrl('SKEIN_BASE_URL', text);
  if (url === undefined || new URL(url).pathname === '/') return url;
  throw new ConfigError(
    'SKEIN_BASE_URL',
    'must not have a path: give the service a host name of its own, as in https://skein.example',
  );
}

/** May have a path: the token endpoint is served there, too. */
function readAuthUrl(text: string): string | undefined {
  const url = readUrl('SKEIN_AUTH_URL', text);
  if (url === undefined || /^\/?$|^(\/[\w.~-]+)+$/.test(new URL(url).pathname)) return url;
  throw new ConfigError('SKEIN_AUTH_URL', 'must have a path of letters, digits and -._~ only, or none');
}

function readModel(text: (name: VariableName) => string): ModelChoice {
  const name = text('SKEIN_MODEL');
  if (name === 'extractive' || name === 'scripted') return { kind: name, name };
  const [, provider, model] = /^(openai-compatible|anthropic)\/(.+)$/.exec(name) ?? [];
  if (model === undefined || (provider !== 'openai-compatible' && provider !== 'anthropic')) {
    throw new ConfigError(
      'SKEIN_MODEL',
      `must be extractive, openai-compatible/NAME, anthropic/NAME or scripted, and is '${name}'`,
    );
  }
  const baseUrl = readUrl('SKEIN_MODEL_BASE_URL', text('SKEIN_MODEL_BASE_URL'));
  const apiKey = text('SKEIN_MODEL_API_KEY') || undefined;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new ConfigError('SKEIN_MODEL_API_KEY', 'must be one word of ASCII characters');
  }
  if (provider === 'openai-compatible' && baseUrl === undefined) {
    throw new ConfigError(
      'SKEIN_MODEL_BASE_URL',
      `must say where ${name} is served, as in http://127.0.0.1:11434/v1`,
    );
  }
  if (provider === 'anthropic' && apiKey === undefined) {
    throw new ConfigError('SKEIN_MODEL_API_KEY', `must be set for ${name}`);
  }
  return { kind: 'language', name, provider, model, baseUrl, apiKey };
}

function readSso(text: (name: VariableName) => string): SsoChoice | undefined {
  const issuer = readUrl('SKEIN_OIDC_ISSUER', text('SKEIN_OIDC_ISSUER'));
  const clientId = text('SKEIN_OIDC_CLIENT_ID');
  const clientSecret = text('SKEIN_OIDC_CLIENT_SECRET');
  const name = text('SKEIN_OIDC_NAME');
  if (!isKeepable(name) || /\p{Cc}/u.test(name) || [...name].length > ssoNameLengthMax) {
    throw new ConfigError('SKEIN_OIDC_NAME', `must be a line of at most ${ssoNameLengthMax} characters`);
  }
  if (issuer === undefined) {
    if (clientId === '' && clientSecret === '') return undefined;
    throw new ConfigError('SKEIN_OIDC_ISSUER', 'must be set together with SKEIN_OIDC_CLIENT_ID');
  }
  if (issuer.startsWith('http:') && !isLoopback(new URL(issuer).hostname)) {
    throw new ConfigError('SKEIN_OIDC_ISSUER', 'must be an https address: over http, anyone could be anyone');
  }
  if (clientId === '') throw new ConfigError('SKEIN_OIDC_CLIENT_ID', 'must be set with SKEIN_OIDC_ISSUER');
  if (clientSecret === '') {
    throw new ConfigError('SKEIN_OIDC_CLIENT_SECRET', 'must be set with SKEIN_OIDC_ISSUER');
  }
  // As it is written: a slash at its end belongs to an issuer's name.
  return { issuer: text('SKEIN_OIDC_ISSUER'), clientId, clientSecret, name };
}

function readTrustedProxies(text: string): string[] {
  const proxies = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const wrong = proxies.find((proxy) => !isNetwork(proxy));
  if (wrong === undefined) return proxies;
  throw new ConfigError(
    'SKEIN_TRUSTED_PROXIES',
    `must be addresses or networks with commas between them, as in 10.0.0.7,10.1.0.0/16, and has '${wrong}'`,
  );
}

function readTls(cert: string, key: string): Config['tls'] {
  if (cert === '' && key === '') return undefined;
  if (key === '') throw new ConfigError('SKEIN_TLS_KEY', 'must be set together with SKEIN_TLS_CERT');
  if (cert === '') throw new ConfigError('SKEIN_TLS_CERT', 'must be set together with SKEIN_TLS_KEY');
  const pair = { cert: readPem('SKEIN_TLS_CERT', cert), key: readPem('SKEIN_TLS_KEY', key) };
  try {
    createSecureContext(pair);
  } catch {
    throw new ConfigError(
      'SKEIN_TLS_CERT',
      'and SKEIN_TLS_KEY must be a certificate and its key, in PEM form',
    );
  }
  return pair;
}

function readPem(name: VariableName, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new ConfigError(name, `names a file that cannot be read: ${file}`);
  }
}
