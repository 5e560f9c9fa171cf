import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { retentionKinds } from '../domain/retention.ts';
import type { ReplyBacklog } from '../storage/store.ts';
import type { StoreHealth } from '../usecases/surface-context.ts';
import type { AttemptOutcome, Telemetry } from '../usecases/telemetry.ts';

export interface ProcessFacts {
  readonly version: string;
  readonly role: string;
  readonly store: string;
  /** The file of the embedded store. */
  readonly storeFile?: string;
  readonly model: string;
  readonly modelKind: string;
  /** How many replies this process writes at once; 0 if it writes none. */
  readonly replyPlaces: number;
}

/** From a get of a cached page to a read that waits for its reply. */
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
/** From a reply of the extractive model to the default deadline. */
const replySeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Clients may send any method; only these get their own label. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT']);

/** The metrics of this process. docs/operating.md explains each. */
export function createMetrics(facts: ProcessFacts): { registry: Registry; telemetry: Telemetry } {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Remove gauges with the suffix of a counter, which `promtool check metrics` rejects. They only repeat, as totals,
  // what is also exported by type.
  for (const kind of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  const make = instrumentsIn(registry);
  describeProcess(make, facts);
  return {
    registry,
    telemetry: { ...countRequests(make), ...countReplies(make, facts), ...countMaintenance(make) },
  };
}

type Instruments = ReturnType<typeof instrumentsIn>;

function instrumentsIn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <L extends string>(name: string, help: string, buckets: number[], labelNames: L[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
    /** A gauge whose value is read at each scrape. */
    readGauge(name: string, help: string, read: () => number | Promise<number>): void {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    },
    /** Returns a function that raises or lowers the gauge. */
    level(name: string, help: string): (change: 1 | -1) => void {
      let count = 0;
      this.readGauge(name, help, () => count);
      return (change) => {
        count += change;
      };
    },
  };
}

function describeProcess(make: Instruments, { version, role, store, storeFile, model }: ProcessFacts): void {
  make
    .gauge('skein_build_info', 'Always 1: what runs here.', ['version', 'role', 'store', 'model'])
    .set({ version, role, store, model }, 1);
  if (storeFile === undefined) return;
  const help = 'Bytes free on the disk of the embedded store.';
  make.readGauge('skein_store_disk_free_bytes', help, async () => {
    const { bavail, bsize } = await statfs(dirname(storeFile)).catch(() => ({ bavail: NaN, bsize: NaN }));
    return bavail * bsize;
  });
}

type RequestTelemetry = Pick<
  Telemetry,
  'requestBegan' | 'requestEnded' | 'requestRefused' | 'quotaExceeded' | 'readsWaiting' | 'tokenRequested'
>;

function countRequests(make: Instruments): RequestTelemetry {
  const durations = make.histogram(
    'skein_http_request_duration_seconds',
    'From the arrival of a request until its answer is ready.',
    requestSeconds,
    ['method', 'route', 'status'],
  );
  const refused = make.counter(
    'skein_http_refused_total',
    'Malformed HTTP that was rejected before routing.',
  );
  const overQuota = make.counter(
    'skein_quota_rejections_total',
    'Requests beyond the daily quota of their organization.',
  );
  const tokens = make.counter('skein_token_requests_total', 'Requests for an access token, by outcome.', [
    'outcome',
  ]);
  for (const outcome of ['issued', 'invalid-client', 'unauthorized-client', 'throttled'])
    tokens.inc({ outcome }, 0);
  const inFlight = make.level('skein_http_requests_in_flight', 'Requests without an answer yet.');
  const waiting = make.level('skein_waiting_reads', 'Reads that wait for a reply to finish (Prefer: wait).');
  return {
    requestBegan: () => inFlight(1),
    requestEnded(method, route, status, ms) {
      inFlight(-1);
      durations.observe({ method: methods.has(method) ? method : 'other', route, status }, ms / 1000);
    },
    requestRefused: () => refused.inc(),
    quotaExceeded: () => overQuota.inc(),
    readsWaiting: waiting,
    tokenRequested: (outcome) => tokens.inc({ outcome }),
  };
}

function countReplies(
  make: Instruments,
  { modelKind: model, replyPlaces }: ProcessFacts,
): Pick<Telemetry, 'replyBegan' | 'replyLeft' | 'replyEnded'> {
  const durations = make.histogram(
    'skein_reply_duration_seconds',
    'From the claim of a reply by a worker until the worker leaves it, by model and outcome.',
    replySeconds,
    ['model', 'outcome'],
  );
  const outcomes: readonly AttemptOutcome[] = ['completed', 'failed', 'retried', 'stopped'];
  if (replyPlaces > 0) for (const outcome of outcomes) durations.zero({ model, outcome });
  const ended = make.counter('skein_replies_ended_total', 'Replies that this process ended, by outcome.', [
    'outcome',
  ]);
  for (const outcome of ['completed', 'failed', 'cancelled']) ended.inc({ outcome }, 0);
  const retried = make.counter('skein_replies_retried_total', 'Attempts that failed and will be retried.');
  make.gauge('skein_reply_places', 'Replies that this process can write at once.').set(replyPlaces);
  const writing = make.level('skein_replies_being_written', 'Replies that this process writes now.');
  return {
    replyBegan: () => writing(1),
    replyLeft(outcome, ms) {
      writing(-1);
      durations.observe({ model, outcome }, ms / 1000);
      if (outcome === 'retried') retried.inc();
      else if (outcome !== 'stopped') ended.inc({ outcome });
    },
    replyEnded: (outcome) => ended.inc({ outcome }),
  };
}

function countMaintenance(
  make: Instruments,
): Pick<
  Telemetry,
  'retentionRemoved' | 'retentionPassed' | 'logLineDropped' | 'requestNotLogged' | 'mailAttempted'
> {
  const removed = make.counter(
    'skein_retention_removed_total',
    'Rows that this process removed because they were older than the settings allow, by kind.',
    ['kind'],
  );
  for (const kind of retentionKinds) removed.inc({ kind }, 0);
  const lastPass = make.gauge(
    'skein_retention_last_pass_timestamp_seconds',
    'When this process last finished a retention pass, or when it started.',
  );
  lastPass.setToCurrentTime();
  const linesDropped = make.counter(
    'skein_log_lines_dropped_total',
    'Log lines dropped because standard output could not be written, as on a full disk.',
  );
  const requestsDropped = make.counter(
    'skein_request_log_dropped_total',
    'Requests missing in the request log of the console because the store was slow or unavailable, or rejected them.',
  );
  const mails = make.counter('skein_mail_attempts_total', 'Attempts to send an email, by outcome.', [
    'outcome',
  ]);
  for (const outcome of ['sent', 'retried', 'failed']) mails.inc({ outcome }, 0);
  return {
    mailAttempted: (outcome) => mails.inc({ outcome }),
    requestNotLogged: () => requestsDropped.inc(),
    retentionRemoved: (kind, count) => removed.inc({ kind }, count),
    retentionPassed: () => lastPass.setToCurrentTime(),
    logLineDropped: () => linesDropped.inc(),
  };
}

type WatchedStore = Omit<StoreHealth, 'diagnose'>;

/** A store that takes longer counts as unavailable: scrapers usually give up after ten seconds. */
const answerWithinMs = 2_000;

/** Gauges that are read from the store at each scrape. An unavailable store is reported and breaks nothing. */
export class StoreGauges {
  readonly #store: WatchedStore;
  readonly #withinMs: number;
  readonly #up: Gauge;
  readonly #running: Gauge<'state'>;
  readonly #oldest: Gauge;
  readonly #connections: Gauge<'state'> | undefined;
  readonly #connectionsWaitedFor: Gauge | undefined;
  readonly #clockAhead: Gauge;
  #asking: Promise<[ReplyBacklog, number]> | undefined;

  constructor(registry: Registry, store: WatchedStore, withinMs: number = answerWithinMs) {
    const { gauge } = instrumentsIn(registry);
    this.#store = store;
    this.#withinMs = withinMs;
    this.#up = gauge('skein_store_up', 'Whether the store answered just now and takes writes: 1, or 0.');
    this.#running = gauge(
      'skein_replies_running',
      'Replies in progress in the whole store; 10000 is that many or more.',
      ['state'],
    );
    this.#oldest = gauge(
      'skein_replies_oldest_waiting_seconds',
      'How long ago the oldest reply that no worker has was asked for; 0 where none waits.',
    );
    this.#clockAhead = gauge(
      'skein_store_clock_ahead_seconds',
      "How far the store's clock is ahead of the machine's, or of the database server's.",
    );
    if (store.connections() === undefined) return;
    this.#connections = gauge(
      'skein_database_connections',
      'Open connections of this process to the database.',
      ['state'],
    );
    this.#connectionsWaitedFor = gauge(
      'skein_database_connection_waiters',
      'Callers in this process that wait for a connection.',
    );
  }

  async refresh(): Promise<void> {
    this.#showConnections();
    // Shared, so that scrapes do not pile up while the store is unavailable.
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    this.#show(await withinMs(this.#asking, this.#withinMs));
  }

  /** Rejects as readiness does, even if the backlog can still be read. */
  async #ask(): Promise<[ReplyBacklog, number]> {
    const store = this.#store;
    const [backlog, aheadMs] = await Promise.all([store.replyBacklog(), store.clockAheadMs(), store.ping()]);
    return [backlog, aheadMs];
  }

  #show(found: [ReplyBacklog, number] | undefined): void {
    this.#up.set(found === undefined ? 0 : 1);
    // NaN instead of the last known value, which would be misleading.
    const [backlog, aheadMs] = found ?? [{ waiting: NaN, held: NaN, oldestWaitingMs: NaN }, NaN];
    const { waiting, held, oldestWaitingMs } = backlog;
    this.#clockAhead.set(aheadMs / 1000);
    this.#running.set({ state: 'waiting' }, waiting);
    this.#running.set({ state: 'held' }, held);
    this.#oldest.set((oldestWaitingMs ?? 0) / 1000);
  }

  #showConnections(): void {
    const use = this.#store.connections();
    if (use === undefined) return;
    this.#connections?.set({ state: 'used' }, use.total - use.idle);
    this.#connections?.set({ state: 'idle' }, use.idle);
    this.#connectionsWaitedFor?.set(use.waiting);
  }
}

/** Undefined if it fails or times out. */
async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const enough = new AbortController();
  const tooLong = pause(ms, undefined, { signal: enough.signal });
  try {
    return await Promise.race([promise, tooLong]);
  } catch {
    return undefined;
  } finally {
    enough.abort();
    tooLong.catch(() => {});
  }
}
