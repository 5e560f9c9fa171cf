import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type Config, ConfigError } from './config.ts';
import { createCursorSeal } from './cursor-seal.ts';
import { createIdGenerator } from './domain/id.ts';
import { scriptedModel } from './generation/models/scripted.ts';
import { ReplyWorker } from './generation/worker.ts';
import { openSqliteStore } from './storage/sqlite/open.ts';
import type { Store } from './storage/store.ts';
import type { Context } from './usecases/context.ts';

/** The only place that names adapters. Everything else receives what it stands on. */
export async function openContext(config: Config, replyWaiting: () => void = () => {}): Promise<Context> {
  const store = openStore(config);
  const cursorKey = await store.secret('cursor-key', randomBytes(32));
  return {
    store,
    ids: createIdGenerator(Date.now, randomBytes),
    cursorSeal: createCursorSeal(cursorKey),
    now: Date.now,
    randomBytes,
    crc32,
    sha256: (text) => hash('sha256', text),
    settings: {
      paginationWindow: config.paginationWindow,
      dailyQuota: config.dailyQuota,
      replyDeadlineMs: config.replyDeadlineMs,
    },
    replyWaiting,
  };
}

function openStore({ store: { file } }: Config): Store {
  try {
    return openSqliteStore(file);
  } catch (error) {
    throw new ConfigError(
      'SKEIN_DATABASE_URL',
      `names ${file}, which cannot be opened (${(error as Error).message})`,
    );
  }
}

export function startWorker(config: Config, { store, now }: Context, log: Logger): ReplyWorker {
  const settings = { concurrency: config.replyConcurrency, leaseMs: config.replyLeaseMs };
  return new ReplyWorker(store, scriptedModel, settings, log, now);
}

/** `baseUrl` is asked for when an answer needs it: a free port is known only after listening. */
export async function composeApp(
  config: Config,
  context: Context,
  log: Logger,
  baseUrl: () => string,
): Promise<FastifyInstance> {
  // Loaded here, so that the operator's commands start without the HTTP stack.
  const { buildApp } = await import('./http/app.ts');
  return buildApp(context, {
    log,
    tls: config.tls,
    requestTimeoutMs: config.requestTimeoutMs,
    refused: (traceId, reason) => log.info({ trace_id: traceId, status: 400, reason }, 'request refused'),
    bodyBytesMax: config.bodyBytesMax,
    limits: config,
    threadUrl: (id) => `${baseUrl()}/threads/${id}`,
  });
}

export { createLog } from './log.ts';
