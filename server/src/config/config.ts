import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { limitValues } from '../domain/limits.ts';
import { httpUrl, optional, type StoreChoice } from './parsers.ts';
import { ConfigError, parseAs, type Read, readFrom, readTogether } from './variables.ts';

export { tlsRisk } from '../storage/postgres/postgres-urls.ts';
export type { StoreChoice };
export { ConfigError };

export type Config = Readonly<ReturnType<typeof readConfig>>;

export type RemoteConfig = Readonly<ReturnType<typeof readRemoteConfig>>;

export type SsoChoice = NonNullable<Config['sso']>;

export function readConfig(environment: NodeJS.ProcessEnv) {
  const read = readFrom(environment);
  return {
    host: read('SKEIN_HOST'),
    port: read('SKEIN_PORT'),
    /** Undefined: no metrics. */
    metricsPort: read('SKEIN_METRICS_PORT'),
    store: read('SKEIN_DATABASE_URL'),
    databaseConnections: read('SKEIN_DATABASE_CONNECTIONS'),
    cacheBytes: read('SKEIN_CACHE_BYTES'),
    /** Undefined: the URL that the server listens on. */
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
    sso: readSso(read),
    /** Undefined: no email is sent. */
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
    limits: limitValues(({ variable, default: fixed }) => (variable === undefined ? fixed : read(variable))),
    /** Undefined: nothing is sent over OTLP. */
    otlp: readOtlp(environment),
    tls: readTls(read),
  };
}

/** Reads only these variables, so that the settings of a service on the same machine do not matter to its clients. */
export function readRemoteConfig(environment: NodeJS.ProcessEnv) {
  const read = readFrom(environment);
  // A remote service may have a path in front of it.
  const readUrl = (name: 'SKEIN_BASE_URL' | 'SKEIN_AUTH_URL') =>
    parseAs(name, environment[name] ?? '', optional(httpUrl));
  return {
    baseUrl: readUrl('SKEIN_BASE_URL') ?? 'http://127.0.0.1:8080',
    /** Undefined: the base URL. */
    authUrl: readUrl('SKEIN_AUTH_URL'),
    /** Preferred over the application if both are set: it can do more. */
    apiKey: read('SKEIN_API_KEY'),
    application: readTogether(read, { clientId: 'SKEIN_CLIENT_ID', clientSecret: 'SKEIN_CLIENT_SECRET' }),
  };
}

/** The URL of the listening address, for a person on this machine. */
export function listeningUrl({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const written = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${written}:${port}`;
}

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
      `must be extractive, openai-compatible/NAME, anthropic/NAME or scripted, got '${name}'`,
    );
  }
  const baseUrl = read('SKEIN_MODEL_BASE_URL');
  const apiKey = read('SKEIN_MODEL_API_KEY');
  if (provider === 'openai-compatible' && baseUrl === undefined) {
    throw new ConfigError(
      'SKEIN_MODEL_BASE_URL',
      `must be the URL of the provider for ${name}, for example http://127.0.0.1:11434/v1`,
    );
  }
  if (provider === 'anthropic' && apiKey === undefined) {
    throw new ConfigError('SKEIN_MODEL_API_KEY', `must be set for ${name}`);
  }
  return { kind: 'language', name, provider, model, baseUrl, apiKey } as const;
}

function readSso(read: Read) {
  const name = read('SKEIN_OIDC_NAME');
  const provider = readTogether(read, {
    issuer: 'SKEIN_OIDC_ISSUER',
    clientId: 'SKEIN_OIDC_CLIENT_ID',
    clientSecret: 'SKEIN_OIDC_CLIENT_SECRET',
  });
  return provider && { ...provider, name };
}

function readMail(read: Read) {
  const mail = readTogether(read, { server: 'SKEIN_SMTP_URL', from: 'SKEIN_MAIL_FROM' });
  return mail && { ...mail.server, from: mail.from };
}

function readTls(read: Read) {
  const pair = readTogether(read, { cert: 'SKEIN_TLS_CERT', key: 'SKEIN_TLS_KEY' });
  if (pair === undefined) return undefined;
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

/**
 * What to send over OTLP, from the variables that OpenTelemetry defines. The exporters read their URLs themselves.
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
  return {
    traces,
    metrics,
    sampler: environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on',
    samplerArgument: environment.OTEL_TRACES_SAMPLER_ARG || '1',
    spanDelayMs: parseMs(environment.OTEL_BSP_SCHEDULE_DELAY, 5000),
    metricsEveryMs: parseMs(environment.OTEL_METRIC_EXPORT_INTERVAL, 60_000),
  };
}

/** Invalid values are ignored, as OpenTelemetry requires. */
function parseMs(text: string | undefined, usual: number): number {
  const ms = Number(text);
  return ms >= 1 && ms < 2 ** 31 ? ms : usual;
}
