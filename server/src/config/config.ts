import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../domain/address.ts';
import { type LimitVariable, limitValues } from '../domain/limits.ts';
import { httpUrl, optional, type StoreChoice, storeUrl } from './parsers.ts';
import { ConfigError, parseAs, parseVariable, type VariableName, type VariableValue } from './variables.ts';

export type { StoreChoice };
export { ConfigError };

/** Everything that the environment sets for the service. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

/** What the remote commands need. */
export type RemoteConfig = Readonly<ReturnType<typeof readRemoteConfig>>;

/** The OpenID provider for single sign-on. */
export type SsoChoice = NonNullable<Config['sso']>;

type Read = <Name extends VariableName>(name: Name) => VariableValue<Name>;

export function readConfig(environment: NodeJS.ProcessEnv) {
  const read: Read = (name) => parseVariable(name, environment[name]);
  return {
    host: read('SKEIN_HOST'),
    port: read('SKEIN_PORT'),
    /** Undefined: no metrics. */
    metricsPort: read('SKEIN_METRICS_PORT'),
    store: read('SKEIN_DATABASE_URL'),
    databaseConnections: read('SKEIN_DATABASE_CONNECTIONS'),
    cacheBytes: read('SKEIN_CACHE_BYTES'),
    /** Undefined: the address that the server listens on. */
    baseUrl: read('SKEIN_BASE_URL'),
    /** Undefined: the base URL. */
    authUrl: read('SKEIN_AUTH_URL'),
    model: readModel(read),
    replyLeaseMs: read('SKEIN_REPLY_LEASE_MS'),
    replyThreads: read('SKEIN_REPLY_THREADS') ?? Math.min(4, Math.max(1, availableParallelism() - 1)),
    /** Undefined: depends on whether `/readyz` was requested. */
    drainMs: read('SKEIN_DRAIN_MS'),
    trustedProxies: read('SKEIN_TRUSTED_PROXIES'),
    /** Undefined: people sign in by password only. */
    sso: readSso(read, environment.SKEIN_OIDC_ISSUER),
    /** Undefined: no mail is sent. */
    mail: readMail(read),
    retention: {
      deletedThreads: read('SKEIN_RETENTION_DELETED_THREADS_DAYS'),
      audit: read('SKEIN_RETENTION_AUDIT_DAYS'),
      usage: read('SKEIN_RETENTION_USAGE_DAYS'),
      requests: read('SKEIN_RETENTION_REQUESTS_DAYS'),
      idempotency: read('SKEIN_RETENTION_IDEMPOTENCY_DAYS'),
      sessions: read('SKEIN_RETENTION_SESSIONS_DAYS'),
    },
    logLevel: read('SKEIN_LOG_LEVEL'),
    limits: limitValues(({ variable, default: fixed }) =>
      variable === undefined ? fixed : read(variable as LimitVariable),
    ),
    /** Undefined: nothing is sent over OTLP. */
    otlp: readOtlp(environment),
    tls: readTls(read('SKEIN_TLS_CERT'), read('SKEIN_TLS_KEY')),
  };
}

/** Reads only these variables, so that the settings of a service on the same machine do not matter to its clients. */
export function readRemoteConfig(environment: NodeJS.ProcessEnv) {
  const read: Read = (name) => parseVariable(name, environment[name]);
  const clientId = read('SKEIN_CLIENT_ID');
  const clientSecret = read('SKEIN_CLIENT_SECRET');
  if (clientSecret === undefined && clientId !== undefined) {
    throw requiredWith('SKEIN_CLIENT_SECRET', 'SKEIN_CLIENT_ID');
  }
  // A remote service may have a path in front of it.
  const readUrl = (name: 'SKEIN_BASE_URL' | 'SKEIN_AUTH_URL') =>
    parseAs(name, environment[name] ?? '', optional(httpUrl));
  return {
    baseUrl: readUrl('SKEIN_BASE_URL') ?? 'http://127.0.0.1:8080',
    /** Undefined: the base URL. */
    authUrl: readUrl('SKEIN_AUTH_URL'),
    /** Preferred over the application if both are set: it can do more. */
    apiKey: read('SKEIN_API_KEY'),
    application:
      clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret },
  };
}

export function readStore(url: string): StoreChoice {
  return parseAs('SKEIN_DATABASE_URL', url, storeUrl);
}

/** The URL of the listening address, for a person on this machine. */
export function listeningUrl({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const written = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${written}:${port}`;
}

/** The version of this installation, from its package.json. */
export function packageVersion(): string {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version;
}

/** The model that writes replies. `name` is the text of the variable. */
function readModel(read: Read) {
  const name = read('SKEIN_MODEL');
  if (name === 'extractive' || name === 'scripted') return { kind: name, name } as const;
  const [, provider, model] = /^(openai-compatible|anthropic)\/(.+)$/.exec(name) ?? [];
  if (model === undefined || (provider !== 'openai-compatible' && provider !== 'anthropic')) {
    throw new ConfigError(
      'SKEIN_MODEL',
      `must be extractive, openai-compatible/NAME, anthropic/NAME or scripted, and is '${name}'`,
    );
  }
  const baseUrl = read('SKEIN_MODEL_BASE_URL');
  const apiKey = read('SKEIN_MODEL_API_KEY');
  if (provider === 'openai-compatible' && baseUrl === undefined) {
    throw new ConfigError(
      'SKEIN_MODEL_BASE_URL',
      `must be the URL at which ${name} is served, as in http://127.0.0.1:11434/v1`,
    );
  }
  if (provider === 'anthropic' && apiKey === undefined) {
    throw new ConfigError('SKEIN_MODEL_API_KEY', `must be set for ${name}`);
  }
  return { kind: 'language', name, provider, model, baseUrl, apiKey } as const;
}

function readSso(read: Read, issuerText: string | undefined) {
  const issuer = read('SKEIN_OIDC_ISSUER');
  const clientId = read('SKEIN_OIDC_CLIENT_ID');
  const clientSecret = read('SKEIN_OIDC_CLIENT_SECRET');
  const name = read('SKEIN_OIDC_NAME');
  if (issuer === undefined) {
    if (clientId === '' && clientSecret === '') return undefined;
    throw requiredWith('SKEIN_OIDC_ISSUER', 'SKEIN_OIDC_CLIENT_ID');
  }
  if (issuer.startsWith('http:') && !isLoopback(new URL(issuer).hostname)) {
    throw new ConfigError(
      'SKEIN_OIDC_ISSUER',
      'must be an https URL: http would let anyone forge identities',
    );
  }
  if (clientId === '') throw requiredWith('SKEIN_OIDC_CLIENT_ID', 'SKEIN_OIDC_ISSUER');
  if (clientSecret === '') throw requiredWith('SKEIN_OIDC_CLIENT_SECRET', 'SKEIN_OIDC_ISSUER');
  // As it is written: a slash at the end is part of an issuer's name.
  return { issuer: issuerText ?? issuer, clientId, clientSecret, name };
}

function readMail(read: Read) {
  const server = read('SKEIN_SMTP_URL');
  const from = read('SKEIN_MAIL_FROM');
  if (server === undefined && from === undefined) return undefined;
  if (from === undefined) throw requiredWith('SKEIN_MAIL_FROM', 'SKEIN_SMTP_URL');
  if (server === undefined) throw requiredWith('SKEIN_SMTP_URL', 'SKEIN_MAIL_FROM');
  return { ...server, from };
}

function readTls(cert: string, key: string): { readonly cert: Buffer; readonly key: Buffer } | undefined {
  if (cert === '' && key === '') return undefined;
  if (key === '') throw requiredWith('SKEIN_TLS_KEY', 'SKEIN_TLS_CERT');
  if (cert === '') throw requiredWith('SKEIN_TLS_CERT', 'SKEIN_TLS_KEY');
  const pair = { cert: readPem('SKEIN_TLS_CERT', cert), key: readPem('SKEIN_TLS_KEY', key) };
  try {
    // Loaded here because it takes 35 ms of processor time, and most processes never use it.
    process.getBuiltinModule('node:tls').createSecureContext(pair);
  } catch {
    throw new ConfigError(
      'SKEIN_TLS_CERT',
      'and SKEIN_TLS_KEY must be a certificate and its private key, in PEM format',
    );
  }
  return pair;
}

function requiredWith(name: VariableName, other: VariableName): ConfigError {
  return new ConfigError(name, `must be set together with ${other}`);
}

function readPem(name: VariableName, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new ConfigError(name, `names a file that cannot be read: ${file}`);
  }
}

const protocol = 'http/json';

/**
 * What to send over OTLP, from the variables that OpenTelemetry defines. The exporters read their addresses themselves.
 * Undefined if no receiver is configured, or if OpenTelemetry is turned off.
 */
function readOtlp(environment: NodeJS.ProcessEnv) {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined;
  const isSent = (signal: 'TRACES' | 'METRICS') =>
    Boolean(
      environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`],
    ) && environment[`OTEL_${signal}_EXPORTER`] !== 'none';
  const [traces, metrics] = [isSent('TRACES'), isSent('METRICS')];
  if (!traces && !metrics) return undefined;
  const asked = environment.OTEL_EXPORTER_OTLP_PROTOCOL || protocol;
  return {
    traces,
    metrics,
    sampler: environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on',
    samplerArgument: environment.OTEL_TRACES_SAMPLER_ARG || '1',
    spanDelayMs: msOf(environment.OTEL_BSP_SCHEDULE_DELAY, 5000),
    metricsEveryMs: msOf(environment.OTEL_METRIC_EXPORT_INTERVAL, 60_000),
    /** A configured protocol that is not supported. */
    unsupportedProtocol: asked === protocol ? undefined : asked,
  };
}

/** Invalid values are ignored, as OpenTelemetry requires. */
function msOf(text: string | undefined, usual: number): number {
  const ms = Number(text);
  return ms >= 1 && ms < 2 ** 31 ? ms : usual;
}
