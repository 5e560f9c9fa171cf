import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Logger } from 'pino';
import {
  createDrafter,
  createModel,
  type ModelSettings,
  type ModelThreads,
  openIsolatedModel,
  openModelThreads,
  type PassageSource,
  tryModel,
} from '../../answers/src/index.ts';
import { loadOnce } from '../../runtime/src/pure/load-once.ts';
import { Signals } from '../../runtime/src/pure/signals.ts';
import { composeUseCases, machine } from './compose-use-cases.ts';
import { type Config, ConfigError, listeningUrl, packageVersion, type StoreChoice } from './config/config.ts';
import type { Library } from './domain/document.ts';
import type { ThreadId } from './domain/id.ts';
import type { ConfiguredModel } from './domain/reply.ts';
import { SearchQueue } from './domain/search-queue.ts';
import { explainFault } from './domain/store-fault.ts';
import { noTelemetry, noTracing, type Telemetry, type Tracing } from './domain/telemetry.ts';
import type { AppNeeds } from './http/app/app.ts';
import type { Log } from './log.ts';
import {
  keepTending,
  ReplySignals,
  type ReplyWorker,
  relaySignals,
  type WorkerNeeds,
} from './replies/index.ts';
import { type Archive, type ArchiveTarget, StoreInUse } from './storage/port/archive.ts';
import type { Store, StoreWatch } from './storage/port/store.ts';
import { openSqliteStore } from './storage/sqlite/open.ts';
import { machineClock } from './storage/sqlite/store-time.ts';
import { operatorInitiator } from './usecases/audit-note.ts';
import { recordReplies, requestRecorder } from './usecases/organization/request-recorder.ts';
import type { StoreHealth } from './usecases/store-health.ts';

interface SkeinOptions {
  /** Called when it is needed: a free port is known only after listening. */
  readonly baseUrl?: () => string;
  readonly telemetry?: Telemetry | undefined;
  readonly tracing?: Tracing | undefined;
}

interface StoreOptions {
  readonly watch?: StoreWatch;
  /** Fails if there is no store yet, instead of creating one. */
  readonly mustExist?: boolean;
}

/** The service without its surfaces, which get only what is here: nobody who has it can reach the store. */
export type Skein = Awaited<ReturnType<typeof composeSkein>>;

/** Only the files compose*.ts name adapters. All other code receives its dependencies. */
export async function openSkein(config: Config, options: SkeinOptions & StoreOptions = {}): Promise<Skein> {
  return composeSkein(config, await openStore(config, options), options);
}

export async function composeSkein(config: Config, opened: Store, options: SkeinOptions = {}) {
  const { baseUrl = () => config.baseUrl ?? listeningUrl(config), tracing = noTracing } = options;
  const { telemetry: uncounted = noTelemetry } = options;
  const { ids, now, timers } = machine;
  const store = traceCalls(opened, tracing);
  const recorder = requestRecorder(store, config.limits.requestLogMax, uncounted);
  const telemetry = recordReplies(uncounted, recorder, now);
  const replySignals = new ReplySignals();
  const threadSignals = new Signals<ThreadId>();
  const parts = { config, store, baseUrl, telemetry, replySignals, threadSignals };
  const useCases = await composeUseCases(parts);
  const replyNeeds = { store, ids, now, timers, replySignals, threadSignals, telemetry, tracing };
  const health: StoreHealth = {
    ping: () => store.ping(),
    connections: () => store.connections(),
    clockAheadMs: () => store.clockAheadMs(),
    replyBacklog: () => store.replyBacklog(),
    diagnose: () => store.diagnose(),
  };
  return {
    useCases,
    health,
    /** Who makes the changes of one command. */
    operator: () => operatorInitiator(ids),
    /** Stores what was counted and logged of requests. */
    flushRecords: recorder.flush,
    keepTending: (log: Logger, leaseMs: number, worker: ReplyWorker | undefined) =>
      keepTending({ ...replyNeeds, log }, leaseMs, worker),
    relaySignals: () => relaySignals(replyNeeds),
    startWorker: (log: Logger) => startWorker(config, { ...replyNeeds, log }),
    composeApp(log: Log) {
      const needs = { ...useCases, ...machine, baseUrl, limits: config.limits, telemetry, tracing, recorder };
      return composeApp(config, { ...needs, ping: health.ping }, threadedQuestions(config, store), log);
    },
    close: () => store.close(),
  };
}

/** Every call of the store within a trace is a span. */
function traceCalls(store: Store, tracing: Tracing): Store {
  if (tracing === noTracing) return store;
  return new Proxy(store, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) =>
        tracing.span(`store ${String(name)}`, {}, () => Reflect.apply(method, target, args));
    },
  });
}

export async function openStore(
  config: Config,
  { watch, mustExist = false }: StoreOptions = {},
): Promise<Store> {
  const { store } = config;
  const named = store.engine === 'sqlite' ? `${store.file}, which` : 'a database that';
  try {
    if (mustExist && store.engine === 'sqlite' && !statSync(store.file, { throwIfNoEntry: false })?.size) {
      throw new ConfigError(
        'SKEIN_DATABASE_URL',
        `points to ${named} does not exist or is empty: run the command in the service's folder, or set the variable as the service does`,
      );
    }
    if (store.engine === 'sqlite') return openSqliteStore(store.file, machineClock, watch, config.cacheBytes);
    // Loaded on use: the embedded store needs no driver.
    const { openPostgresStore } = await import('./storage/postgres/open.ts');
    return await openPostgresStore(store.url, {
      connectionsMax: config.databaseConnections,
      watch,
      mustExist,
      cacheBytes: config.cacheBytes,
    });
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(
      'SKEIN_DATABASE_URL',
      `points to ${named} cannot be opened (${explainFault(error as Error)})`,
    );
  }
}

/** A store to copy from. Rejects with `StoreInUse` if another process uses it. */
export async function openArchive(choice: StoreChoice): Promise<Archive> {
  if (choice.engine === 'sqlite')
    return (await import('./storage/sqlite/archive.ts')).openSqliteSource(choice.file);
  return (await import('./storage/postgres/archive.ts')).openPostgresSource(choice.url);
}

/** A store to copy to. Rejects with `StoreInUse` if another process uses it. */
export async function openArchiveTarget(choice: StoreChoice): Promise<ArchiveTarget> {
  if (choice.engine === 'sqlite')
    return (await import('./storage/sqlite/archive.ts')).openSqliteTarget(choice.file);
  return (await import('./storage/postgres/archive.ts')).openPostgresTarget(choice.url);
}

export { extractPassageTerms } from '../../answers/src/index.ts';
export { createSmtpMailer as createMailer } from './mail/smtp.ts';
export { copyStore } from './storage/copy-store.ts';
export { copySqliteFile } from './storage/sqlite/database.ts';
export { lockFile, workerFile } from './storage/sqlite/locks.ts';
export { StoreInUse };

// The rest is loaded on use, so that the operator's commands start without workers, models, the HTTP stack and the logger.

async function startWorker(
  config: Config,
  needs: WorkerNeeds & { readonly store: Store; readonly tracing: Tracing },
) {
  const { replyConcurrency: concurrency, replyAttempts: attemptsMax } = config.limits;
  const settings = { concurrency, leaseMs: config.replyLeaseMs, attemptsMax };
  const { ReplyWorker } = await import('./replies/index.ts');
  const { store, tracing } = needs;
  const usual = await createModel(modelSettings(config), store, tracing.headers);
  const suspects = await openIsolatedModel({
    name: usual.name,
    settings: { ...modelSettings(config), threads: 1 },
    store,
    traceHeaders: tracing.headers,
  });
  const worker = await ReplyWorker.start(needs, { usual, suspects }, settings);
  return { worker, suggestQuestions: usual.suggestQuestions };
}

function modelSettings(config: Config): ModelSettings {
  const { model, limits, replyThreads: threads } = config;
  return { model, limits, threads, passages: passageSource(config) };
}

/** PostgreSQL is read through the connections of the process. */
function passageSource({ store }: Config): PassageSource | undefined {
  if (store.engine !== 'sqlite') return undefined;
  return { module: import.meta.resolve('./storage/sqlite/documents.ts'), location: store.file };
}

const noDocuments = { search: async () => ({ searched: 0, passages: [] }) };

export function configuredModel(config: Config): ConfiguredModel {
  const { model } = config;
  return {
    name: model.name,
    provider: model.kind === 'language' ? model.provider : null,
    async test(question, withinMs) {
      const drafter = await createDrafter(config, noDocuments);
      return drafter && tryModel(drafter, question, AbortSignal.timeout(withinMs));
    },
  };
}

async function composeApp(
  config: Config,
  needs: AppNeeds,
  questions: ReturnType<typeof threadedQuestions>,
  log: Log,
) {
  const { buildApp } = await import('./http/app/app.ts');
  // Creates the signing key if there is none yet.
  await needs.accessTokens.keySet();
  const app = await buildApp(needs, {
    log: log as unknown as FastifyBaseLogger,
    drainMs: config.drainMs,
    tls: config.tls,
    trustedProxies: config.trustedProxies,
    refused: (traceId, reason) => {
      needs.telemetry.requestRefused();
      log.info({ trace_id: traceId, status: 400, reason }, 'request rejected');
    },
    model: configuredModel(config),
    authUrl: () => config.authUrl ?? needs.baseUrl(),
    authPath: new URL(config.authUrl ?? 'http://root').pathname.replace(/\/$/, ''),
    secure: config.tls !== undefined || config.baseUrl?.startsWith('https:') === true,
    webFolder: join(import.meta.dirname, '../../console/dist'),
    uploadFolder: config.store.engine === 'sqlite' ? dirname(config.store.file) : tmpdir(),
    siteFolder: join(import.meta.dirname, '../../site/dist'),
    searchPassages: questions.search,
  });
  app.addHook('onClose', questions.close);
  return app;
}

const questionMsMax = 10_000;

/** Searches documents off the event loop, one at a time, in a thread that starts with the first search. */
function threadedQuestions(config: Config, store: Store) {
  let threads: ModelThreads | undefined;
  const open = loadOnce(async () => {
    threads = await openModelThreads({ store, threads: 1, passages: passageSource(config) });
    return threads;
  });
  const queue = new SearchQueue(1);
  const search: Library['search'] = (organizationId, accountId, question, limit) => {
    const signal = AbortSignal.timeout(questionMsMax);
    const find = async () => {
      const library = await open();
      return library.search(organizationId, accountId, question, limit, signal);
    };
    return queue.run(organizationId, find, signal);
  };
  return { search, close: async () => threads?.close() };
}

/** Undefined if nothing is sent. OpenTelemetry is then not loaded. */
export async function openOtlp({ otlp }: Config, onFailure: (error: unknown) => void) {
  return otlp && (await import('./otlp/open.ts')).openOtlp(otlp, packageVersion(), onFailure);
}

/** Undefined if metrics are off: their library is not loaded then. */
export async function openMetrics(config: Config, role: string) {
  if (config.metricsPort === undefined && config.otlp?.metrics !== true) return undefined;
  const { createMetricsServer } = await import('./metrics/metrics-server.ts');
  return createMetricsServer(config, role);
}

export async function openLog(level: string, onDrop?: () => void): Promise<Log> {
  return (await import('./log.ts')).createLog(level, onDrop);
}
