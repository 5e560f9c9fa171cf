import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { lockFile, openLog, openMetrics, openOtlp, openSkein, type Skein, workerFile } from '../compose.ts';
import { type Config, ConfigError, listeningUrl, tlsRisk } from '../config/config.ts';
import { unknownVariables } from '../config/variables.ts';
import { isLoopback } from '../domain/address.ts';
import { explainFault } from '../domain/store-fault.ts';
import type { Log } from '../log.ts';
import { startBackgroundWork } from './background.ts';
import { onStopSignal } from './command.ts';
import { firstSteps, makeDemo } from './demo.ts';
import { buildServedFiles } from './web-build.ts';

export type Role = 'all' | 'api' | 'worker';

/** Connections that are still open this long after a stop are closed. */
const finishMs = 10_000;
/** The process exits after this long in any case, for example if the database does not answer. */
const stopMs = 20_000;

/**
 * How many connections may wait to be accepted: as many as the system allows (`net.core.somaxconn`, usually 4,096). Linux
 * resets some of those that find no room, and a process accepts only one per turn of the event loop.
 */
const backlog = 65_535;

/** Runs until a stop is requested. Then drains, finishes running requests, and resolves with the exit code. */
export async function serve(config: Config, role: Role): Promise<number> {
  const stopRequested = new Promise<{ signal: NodeJS.Signals }>((resolve) => {
    onStopSignal(['SIGTERM', 'SIGINT'], (signal) => resolve({ signal }));
  });
  // Known once the service listens, unless it is configured.
  let baseUrl = config.baseUrl ?? '';
  const metrics = await openMetrics(config, role);
  const log = await openLog(config.logLevel, metrics?.telemetry.logLineDropped);
  const otlp = await openOtlp(config, (error) =>
    log.warn({ err: error }, 'failed to export traces or metrics over OTLP'),
  );
  const file = config.store.engine === 'sqlite' ? config.store.file : undefined;
  const opening = openSkein(config, {
    baseUrl: () => baseUrl,
    watch: {
      connectionBroke: (error) => log.warn({ err: error }, 'lost store connection'),
      // Without a stack: the message says what to do.
      writesFail: (error: NodeJS.ErrnoException) =>
        log.error({ code: error.code, file }, `store is rejecting writes: ${explainFault(error)}`),
      writesSucceed: () => log.info('store is accepting writes again'),
      migrationWaits: () => {
        log.info('waiting for another node to migrate the database');
        log.flush();
      },
    },
    telemetry: metrics?.telemetry,
    tracing: otlp?.tracing,
  });
  const skein = await Promise.race([opening, stopRequested]);
  // Opening the store can take a while: a node waits until another one has migrated it.
  if ('signal' in skein) return 0;
  // Node.js reads this file only when it first needs it.
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
  if (certificates) {
    process.getBuiltinModule('node:tls').createSecureContext();
    // Processes that write replies start in another folder.
    process.env.NODE_EXTRA_CA_CERTS = resolve(certificates);
  }
  // All settings that name files have been read. Node.js cannot start a thread in a folder that was removed, for example
  // by a deployment, so the service does not stay in the folder in which it was started.
  process.chdir('/');
  // After the store is open, so that a failed start prints only its error.
  warnOfRisks(config, role, log);
  const metricsUrl = metrics && (await publishMetrics(config, metrics, otlp, skein));
  const app = role === 'worker' ? undefined : await listen(config, skein, log);
  if (app) baseUrl ||= formatUrl(app.server.address() as AddressInfo, config.tls);
  const started = role === 'api' ? undefined : await skein.startWorker(log);
  const background = startBackgroundWork(skein, started, config.replyLeaseMs, log);
  const stopRelaying = skein.relaySignals();
  const servedFiles = app && buildServedFiles(log);
  // The URL is printed once the console can be served there.
  await Promise.race([servedFiles?.consoleReady, stopRequested]);
  if (app) await printFirstSteps(skein, config, baseUrl);
  log.info(
    {
      role,
      address: app && baseUrl,
      metrics: metricsUrl,
      store: config.store.engine,
      model: config.model.name,
    },
    'ready',
  );
  // A process manager or a test may wait for this line.
  log.flush();
  servedFiles?.checkSources();
  // Not before, because loading the compiler takes 50 ms, and not during the first request, which would wait for it.
  void app?.compileSchemas();

  const reason = await Promise.race([stopRequested, untilUncaughtError(log)]);
  log.info(reason, 'stopping');
  await app?.drain();
  // Replies that are still claimed then are claimed by other workers when their leases expire.
  setTimeout(() => process.exit(1), stopMs).unref();
  await servedFiles?.stop();
  setTimeout(() => app?.server.closeAllConnections(), finishMs).unref();
  await app?.close();
  await background.stopTending();
  // What the process wrote when it failed may be the cause.
  await started?.worker.stop('origin' in reason ? 'crash' : 'shutdown');
  await stopRelaying();
  await background.stop();
  await otlp?.close();
  await metrics?.close();
  await skein.close();
  log.info('stopped');
  return 'signal' in reason ? 0 : 1;
}

/** Logs warnings about risky settings. The service starts anyway, because they may be intended. */
function warnOfRisks(config: Config, role: Role, log: Log): void {
  const { baseUrl, store, tls, trustedProxies } = config;
  for (const sentence of unknownVariables(process.env)) log.warn(sentence);
  const risk = store.engine === 'sqlite' ? undefined : tlsRisk(store.url);
  if (risk !== undefined) {
    log.warn(`the connection to PostgreSQL ${risk}: add sslmode=verify-full to SKEIN_DATABASE_URL`);
  }
  if (config.mail !== undefined && baseUrl === undefined) {
    log.warn('SKEIN_BASE_URL is not set: links in emails use the listening address');
  }
  const endsTlsElsewhere = baseUrl?.startsWith('https:') && tls === undefined;
  if (role !== 'worker' && endsTlsElsewhere && trustedProxies.length === 0) {
    log.warn(
      'SKEIN_TRUSTED_PROXIES is not set, but SKEIN_BASE_URL is https and this process does not terminate TLS: all clients behind the proxy share one limit of failed sign-ins',
    );
  }
}

/** Runs only after the service listens: a failed start must not use up the demo. */
async function printFirstSteps(
  { useCases, operator }: Skein,
  config: Config,
  baseUrl: string,
): Promise<void> {
  const { store } = config;
  const isEmpty = async () => (await useCases.organizations.list()).length === 0;
  const greeting =
    store.engine === 'sqlite' && isPrivate(config)
      ? await makeDemo(useCases, operator(), baseUrl, () => lockFile(workerFile(store.file)))
      : (await isEmpty()) && firstSteps;
  if (greeting) process.stdout.write(`${greeting}\n`);
}

/** Whether only this machine can reach the service, and it sends no email. Otherwise no demo credentials are created. */
function isPrivate({ host, baseUrl, mail }: Config): boolean {
  return (
    mail === undefined && isLoopback(host) && (baseUrl === undefined || isLoopback(new URL(baseUrl).hostname))
  );
}

type Metrics = NonNullable<Awaited<ReturnType<typeof openMetrics>>>;

async function listen(config: Config, skein: Skein, log: Log) {
  const app = await skein.composeApp(log);
  const { host, port } = config;
  // The URL is logged once the console is built.
  const started = app.listen({ host, port, backlog, listenTextResolver: () => 'listening' });
  await untilListening(started, skein, 'SKEIN_PORT', host, port);
  return app;
}

/** Returns the URL to scrape, if there is one. */
async function publishMetrics(
  { host, metricsPort }: Config,
  metrics: Metrics,
  otlp: Awaited<ReturnType<typeof openOtlp>>,
  skein: Skein,
): Promise<string | undefined> {
  metrics.watch(skein.health);
  otlp?.sendMetrics(() => metrics.collect());
  if (metricsPort === undefined) return undefined;
  const started = metrics.listen(host, metricsPort);
  const address = await untilListening(started, skein, 'SKEIN_METRICS_PORT', host, metricsPort);
  return `${formatUrl(address)}/metrics`;
}

function formatUrl({ address, port }: AddressInfo, tls?: Config['tls']): string {
  return listeningUrl({ host: address, port, tls });
}

/** If the service cannot listen on a port, closes the store and says what to do. */
async function untilListening<T>(
  started: Promise<T>,
  skein: Skein,
  name: 'SKEIN_PORT' | 'SKEIN_METRICS_PORT',
  host: string,
  port: number,
): Promise<T> {
  try {
    return await started;
  } catch (error) {
    await skein.close();
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EADDRINUSE':
        throw new ConfigError(
          name,
          `${port} is already in use on ${host}: stop the other process, or choose another port`,
        );
      case 'EACCES':
        throw new ConfigError(
          name,
          `${port} requires more privileges than this user has: choose a port above 1023`,
        );
      case 'EADDRNOTAVAIL':
      case 'EAFNOSUPPORT':
      case 'EAI_AGAIN':
      case 'EINVAL':
      case 'ENOTFOUND':
        throw new ConfigError('SKEIN_HOST', `${host} is not an address of this machine`);
      default:
        throw error;
    }
  }
}

/**
 * After an uncaught error the state of the process is unknown, but its other work must not be lost. It stops as for
 * SIGTERM and exits with 1, so that it is restarted.
 */
function untilUncaughtError(log: Log): Promise<{ origin: NodeJS.UncaughtExceptionOrigin }> {
  return new Promise((resolve) => {
    process.on('uncaughtException', (error, origin) => {
      log.fatal({ err: error, origin }, 'uncaught exception');
      resolve({ origin });
    });
  });
}
