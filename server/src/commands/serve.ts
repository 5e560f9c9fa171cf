import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { composeApp, createLog, openContext, startWorker } from '../compose.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Context } from '../usecases/context.ts';
import { demoGreeting, makeDemo } from './demo.ts';

export const roles = ['all', 'api', 'worker'] as const;
export type Role = (typeof roles)[number];

/** After this long, what still runs at a stop is cut off. */
const drainMs = 10_000;

/** Runs until SIGTERM or SIGINT: then finishes what runs, refuses what comes, and resolves. */
export async function serve(config: Config, role: Role): Promise<void> {
  const stopRequested = untilStopRequested();
  const log = createLog(config.logLevel);
  let wakeWorker = () => {};
  const context = await openContext(config, () => wakeWorker());
  const app = role === 'worker' ? undefined : await listen(config, context, log);
  const worker = role === 'api' ? undefined : startWorker(config, context, log);
  wakeWorker = () => worker?.wake();
  if (app) await greetNewcomer(context, app.baseUrl);
  log.info({ role, address: app?.baseUrl, store: config.store.engine, model: config.model }, 'ready');

  const signal = await stopRequested;
  log.info({ signal }, 'stopping');
  if (app) await drain(app.server);
  await worker?.stop();
  await context.store.close();
  log.info('stopped');
  await new Promise<void>((resolve) => log.flush(() => resolve()));
}

/** Only where it can be shown, and only once we listen: a start that fails must not use up the demo. */
async function greetNewcomer(context: Context, baseUrl: string): Promise<void> {
  const key = await makeDemo(context);
  if (key !== undefined) process.stdout.write(`${demoGreeting(key, baseUrl)}\n`);
}

type Log = ReturnType<typeof createLog>;

async function listen(
  config: Config,
  context: Context,
  log: Log,
): Promise<{ server: FastifyInstance; baseUrl: string }> {
  let baseUrl = config.baseUrl ?? '';
  const server = await composeApp(config, context, log, () => baseUrl);
  try {
    await server.listen({ host: config.host, port: config.port });
  } catch (error) {
    await context.store.close();
    throw listenError(error as NodeJS.ErrnoException, config);
  }
  baseUrl ||= listeningUrl(server.server.address() as AddressInfo, config);
  return { server, baseUrl };
}

function listenError(error: NodeJS.ErrnoException, { host, port }: Config): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigError(
        'SKEIN_PORT',
        `is ${port}, which is in use on ${host}: stop what uses it, or take another`,
      );
    case 'EACCES':
      return new ConfigError(
        'SKEIN_PORT',
        `is ${port}, which needs rights this user lacks: take one above 1023`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError('SKEIN_HOST', `is ${host}, which is not an address of this machine`);
    default:
      return error;
  }
}

function listeningUrl({ address, family, port }: AddressInfo, { tls }: Config): string {
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `${tls ? 'https' : 'http'}://${host}:${port}`;
}

async function drain(app: FastifyInstance): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), drainMs);
  await app.close();
  clearTimeout(cutOff);
}

function untilStopRequested(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      resolve(signal);
      // Asked twice, it is meant: the second signal ends the process at once.
      process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT');
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
}
