import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Config, packageVersion } from '../config/config.ts';
import { retentionKinds } from '../domain/retention.ts';
import type { AttemptOutcome, Telemetry } from '../domain/telemetry.ts';
import type { StoreHealth } from '../usecases/store-health.ts';

/** From a get of a cached page to a read that waits for its reply. */
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
/** From a reply of the extractive model to the default deadline. */
const replySeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Clients may send any method; only these get their own label. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT']);

/** Every metric of ours with its help. docs/monitoring.md explains each. */
const metrics = {
  skein_build_info: 'Always 1; the labels describe the process.',
  skein_store_disk_free_bytes: 'Bytes free on the disk of the embedded store.',
  skein_http_request_duration_seconds: 'Time from the arrival of a request until its response is ready.',
  skein_http_requests_in_flight: 'Requests without a response yet.',
  skein_http_refused_total: 'Malformed HTTP that was rejected before routing.',
  skein_quota_rejections_total: 'Requests beyond the daily quota of their organization.',
  skein_waiting_reads: 'Reads that wait for a reply to finish (Prefer: wait).',
  skein_token_requests_total: 'Requests for an access token, by outcome.',
  skein_reply_duration_seconds:
    "Time from a worker's claim of a reply until the worker is done with it, by model and outcome.",
  skein_replies_ended_total: 'Replies that this process ended, by outcome.',
  skein_replies_retried_total: 'Attempts that failed and will be retried.',
  skein_replies_crashed_total:
    'Replies that start over because the process that wrote them ended or stalled.',
  skein_reply_slots: 'Replies that this process can write at once.',
  skein_replies_being_written: 'Replies that this process is writing now.',
  skein_retention_last_pass_timestamp_seconds:
    'When this process last finished a retention pass, or when it started.',
  skein_retention_removed_total:
    'Rows that this process removed because they were older than the settings allow, by kind.',
  skein_log_lines_dropped_total:
    'Log lines dropped because standard output accepted none, for example on a full disk.',
  skein_request_log_dropped_total:
    'Requests missing in the request log or the statistics because the store was slow or unavailable, or rejected them.',
  skein_mail_attempts_total: 'Attempts to send an email, by outcome.',
  skein_store_up: '1 if the store answered this scrape in time and its last write did not fail, otherwise 0.',
  skein_replies_running: 'Replies in progress in the whole store; 10000 means that many or more.',
  skein_replies_suspected:
    'Replies in progress in the whole store whose process ended or stalled twice; each is written in a process of its own.',
  skein_replies_oldest_waiting_seconds: 'Age of the oldest reply that no worker holds; 0 if none waits.',
  skein_store_clock_ahead_seconds:
    "How far the store's clock is ahead of the machine's, or of the database server's.",
  skein_database_connections: 'Open connections of this process to the database.',
  skein_database_connection_waiters: 'Callers in this process that wait for a connection.',
};

type Metric = keyof typeof metrics;

export function createMetrics(config: Config, role: string): { registry: Registry; telemetry: Telemetry } {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Remove gauges with the suffix of a counter, which `promtool check metrics` rejects. They only repeat, as totals,
  // what is also exported by type.
  for (const kind of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  const make = instrumentsIn(registry);
  describeProcess(make, config, role);
  const slots = role === 'api' ? 0 : config.limits.replyConcurrency;
  const replies = countReplies(make, config.model.kind, slots);
  return { registry, telemetry: { ...countRequests(make), ...replies, ...countMaintenance(make) } };
}

type Instruments = ReturnType<typeof instrumentsIn>;

function instrumentsIn(registry: Registry) {
  const named = (name: Metric) => ({ name, help: metrics[name], registers: [registry] });
  return {
    gauge: <L extends string = never>(name: Metric, labelNames: L[] = []) =>
      new Gauge({ ...named(name), labelNames }),
    histogram: <L extends string>(name: Metric, buckets: number[], labelNames: L[]) =>
      new Histogram({ ...named(name), buckets, labelNames }),
    /** Returns a function that counts one, or as many as it is given. */
    counter(name: Metric): (count?: number) => void {
      const counter = new Counter(named(name));
      return (count = 1) => counter.inc(count);
    },
    /** Counts by one label. Each of its values is shown from the start, as 0. */
    counterBy<V extends string>(name: Metric, label: string, values: readonly V[]) {
      const counter = new Counter({ ...named(name), labelNames: [label] });
      const count = (value: V, more = 1) => counter.inc({ [label]: value }, more);
      for (const value of values) count(value, 0);
      return count;
    },
    /** A gauge whose value, or values by state, are read at each scrape. */
    readGauge(name: Metric, read: () => States | Promise<States>): void {
      new Gauge({
        ...named(name),
        labelNames: ['state'],
        async collect() {
          const found = await read();
          if (typeof found === 'number') this.set(found);
          else for (const [state, value] of Object.entries(found)) this.set({ state }, value);
        },
      });
    },
    /** Returns a function that raises or lowers the gauge. */
    level(name: Metric): (change: 1 | -1) => void {
      let count = 0;
      this.readGauge(name, () => count);
      return (change) => {
        count += change;
      };
    },
  };
}

type States = number | Readonly<Record<string, number>>;

function describeProcess(make: Instruments, { store, model }: Config, role: string): void {
  make
    .gauge('skein_build_info', ['version', 'role', 'store', 'model'])
    .set({ version: packageVersion(), role, store: store.engine, model: model.name }, 1);
  if (store.engine !== 'sqlite') return;
  make.readGauge('skein_store_disk_free_bytes', async () => {
    const { bavail, bsize } = await statfs(dirname(store.file)).catch(() => ({ bavail: NaN, bsize: NaN }));
    return bavail * bsize;
  });
}

const tokenOutcomes = ['issued', 'invalid-client', 'unauthorized-client', 'throttled'] as const;

function countRequests(make: Instruments) {
  const labels = ['method', 'route', 'status'];
  const durations = make.histogram('skein_http_request_duration_seconds', requestSeconds, labels);
  return {
    requestsInFlight: make.level('skein_http_requests_in_flight'),
    requestEnded(method, route, status, ms) {
      durations.observe({ method: methods.has(method) ? method : 'other', route, status }, ms / 1000);
    },
    requestRefused: make.counter('skein_http_refused_total'),
    quotaExceeded: make.counter('skein_quota_rejections_total'),
    readsWaiting: make.level('skein_waiting_reads'),
    tokenRequested: make.counterBy('skein_token_requests_total', 'outcome', tokenOutcomes),
  } satisfies Partial<Telemetry>;
}

/** `replySlots`: how many replies this process writes at once; 0 if it writes none. */
function countReplies(make: Instruments, model: string, replySlots: number) {
  const durations = make.histogram('skein_reply_duration_seconds', replySeconds, ['model', 'outcome']);
  const outcomes: readonly AttemptOutcome[] = ['completed', 'failed', 'retried', 'stopped'];
  if (replySlots > 0) for (const outcome of outcomes) durations.zero({ model, outcome });
  const ends = ['completed', 'failed', 'cancelled'] as const;
  const ended = make.counterBy('skein_replies_ended_total', 'outcome', ends);
  const retried = make.counter('skein_replies_retried_total');
  const repliesCrashed = make.counter('skein_replies_crashed_total');
  make.gauge('skein_reply_slots').set(replySlots);
  const writing = make.level('skein_replies_being_written');
  return {
    replyBegan: () => writing(1),
    replyLeft(outcome, ms) {
      writing(-1);
      durations.observe({ model, outcome }, ms / 1000);
      if (outcome === 'retried') retried();
      else if (outcome !== 'stopped') ended(outcome);
    },
    replyEnded: (outcome) => ended(outcome),
    repliesCrashed,
  } satisfies Partial<Telemetry>;
}

function countMaintenance(make: Instruments) {
  const lastPass = make.gauge('skein_retention_last_pass_timestamp_seconds');
  lastPass.setToCurrentTime();
  return {
    retentionPassed: () => lastPass.setToCurrentTime(),
    retentionRemoved: make.counterBy('skein_retention_removed_total', 'kind', retentionKinds),
    logLineDropped: make.counter('skein_log_lines_dropped_total'),
    requestNotLogged: make.counter('skein_request_log_dropped_total'),
    mailAttempted: make.counterBy('skein_mail_attempts_total', 'outcome', ['sent', 'retried', 'failed']),
  } satisfies Partial<Telemetry>;
}

/** A store that takes longer counts as unavailable: scrapers usually give up after ten seconds. */
const answerWithinMs = 2_000;

/** Shown while the store is unavailable: the last known values would be misleading. */
const unavailable = { waiting: NaN, held: NaN, suspects: NaN, oldestWaitingMs: NaN, aheadMs: NaN };

/** Gauges that are read from the store at each scrape. An unavailable store is reported and breaks nothing. */
export function watchStore(
  registry: Registry,
  store: Omit<StoreHealth, 'diagnose'>,
  withinMs: number = answerWithinMs,
): void {
  const { readGauge } = instrumentsIn(registry);
  let asking: Promise<typeof unavailable> | undefined;
  /** Rejects as readiness does, even if the backlog can still be read. */
  const queryStore = async () => {
    const answers = [store.replyBacklog(), store.clockAheadMs(), store.ping()] as const;
    const [{ waiting, held, suspects, oldestWaitingMs }, aheadMs] = await Promise.all(answers);
    return { waiting, held, suspects, oldestWaitingMs: oldestWaitingMs ?? 0, aheadMs };
  };
  const readStore = () => {
    // Shared, so that scrapes do not pile up while the store is unavailable.
    asking ??= queryStore().finally(() => {
      asking = undefined;
    });
    return within(withinMs, asking);
  };
  const facts = async () => (await readStore()) ?? unavailable;
  readGauge('skein_store_up', async () => ((await readStore()) === undefined ? 0 : 1));
  readGauge('skein_replies_running', async () => {
    const { waiting, held } = await facts();
    return { waiting, held };
  });
  readGauge('skein_replies_suspected', async () => (await facts()).suspects);
  readGauge('skein_replies_oldest_waiting_seconds', async () => (await facts()).oldestWaitingMs / 1000);
  readGauge('skein_store_clock_ahead_seconds', async () => (await facts()).aheadMs / 1000);
  if (store.connections() === undefined) return;
  readGauge('skein_database_connections', () => {
    const { total, idle } = store.connections()!;
    return { used: total - idle, idle };
  });
  readGauge('skein_database_connection_waiters', () => store.connections()!.waiting);
}

/** Undefined if it fails or times out. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const enough = new AbortController();
  const tooLong = pause(ms, undefined, { signal: enough.signal });
  return Promise.race([promise, tooLong])
    .catch(() => undefined)
    .finally(() => enough.abort());
}
