import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { retentionKinds } from '../domain/retention.ts';
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
  describeProcess(registry, facts);
  if (facts.storeFile !== undefined) showFreeDisk(registry, dirname(facts.storeFile));
  const linesDropped = new Counter({
    name: 'skein_log_lines_dropped_total',
    help: 'Log lines dropped because standard output could not be written, as on a full disk.',
    registers: [registry],
  });
  return {
    registry,
    telemetry: {
      ...countRequests(registry),
      ...countReplies(registry, facts),
      ...countRemovals(registry),
      logLineDropped: () => linesDropped.inc(),
    },
  };
}

function describeProcess(registry: Registry, { version, role, store, model }: ProcessFacts): void {
  const build = new Gauge({
    name: 'skein_build_info',
    help: 'Always 1: what runs here.',
    labelNames: ['version', 'role', 'store', 'model'],
    registers: [registry],
  });
  build.set({ version, role, store, model }, 1);
}

function showFreeDisk(registry: Registry, folder: string): void {
  new Gauge({
    name: 'skein_store_disk_free_bytes',
    help: 'Bytes free on the disk of the embedded store.',
    registers: [registry],
    async collect() {
      const free = await statfs(folder).catch(() => ({ bavail: NaN, bsize: NaN }));
      this.set(free.bavail * free.bsize);
    },
  });
}

type RequestTelemetry = Pick<
  Telemetry,
  'requestBegan' | 'requestEnded' | 'requestRefused' | 'quotaExceeded' | 'readsWaiting' | 'tokenRequested'
>;

function countRequests(registry: Registry): RequestTelemetry {
  const registers = [registry];
  const durations = new Histogram({
    name: 'skein_http_request_duration_seconds',
    help: 'From the arrival of a request until its answer is ready.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: requestSeconds,
    registers,
  });
  const refused = new Counter({
    name: 'skein_http_refused_total',
    help: 'Refused before they were requests, such as broken HTTP.',
    registers,
  });
  const overQuota = new Counter({
    name: 'skein_quota_rejections_total',
    help: 'Requests beyond the daily quota of their organization.',
    registers,
  });
  const tokens = new Counter({
    name: 'skein_token_requests_total',
    help: 'Applications that asked for an access token, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  for (const outcome of ['issued', 'invalid-client', 'unauthorized-client', 'throttled'])
    tokens.inc({ outcome }, 0);
  const inFlight = countUpAndDown(
    registry,
    'skein_http_requests_in_flight',
    'Requests without an answer yet.',
  );
  const waiting = countUpAndDown(
    registry,
    'skein_waiting_reads',
    'Reads that are held until a reply has ended (Prefer: wait).',
  );
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
  registry: Registry,
  { modelKind: model, replyPlaces }: ProcessFacts,
): Pick<Telemetry, 'replyBegan' | 'replyLeft' | 'repliesEnded'> {
  const registers = [registry];
  const durations = new Histogram({
    name: 'skein_reply_duration_seconds',
    help: 'From the claim of a reply by a worker until it leaves it, by model and outcome.',
    labelNames: ['model', 'outcome'] as const,
    buckets: replySeconds,
    registers,
  });
  const outcomes: readonly AttemptOutcome[] = ['completed', 'failed', 'retried', 'stopped'];
  if (replyPlaces > 0) for (const outcome of outcomes) durations.zero({ model, outcome });
  const ended = new Counter({
    name: 'skein_replies_ended_total',
    help: 'Replies that ended by an act of this process, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  for (const outcome of ['completed', 'failed', 'cancelled']) ended.inc({ outcome }, 0);
  const retried = new Counter({
    name: 'skein_replies_retried_total',
    help: 'Attempts that failed in a way that may pass: the reply waits for its next.',
    registers,
  });
  const places = new Gauge({
    name: 'skein_reply_places',
    help: 'Replies that this process writes at once, at most.',
    registers,
  });
  places.set(replyPlaces);
  const begun = countUpAndDown(
    registry,
    'skein_replies_being_written',
    'Replies that this process writes now.',
  );
  return {
    replyBegan: () => begun(1),
    replyLeft(outcome, ms) {
      begun(-1);
      durations.observe({ model, outcome }, ms / 1000);
      if (outcome === 'retried') retried.inc();
      else if (outcome !== 'stopped') ended.inc({ outcome });
    },
    repliesEnded: (outcome, count) => ended.inc({ outcome }, count),
  };
}

function countRemovals(registry: Registry): Pick<Telemetry, 'retentionRemoved' | 'retentionPassed'> {
  const removed = new Counter({
    name: 'skein_retention_removed_total',
    help: 'What this process has removed because it was older than the settings allow, by kind.',
    labelNames: ['kind'] as const,
    registers: [registry],
  });
  for (const kind of retentionKinds) removed.inc({ kind }, 0);
  const lastPass = new Gauge({
    name: 'skein_retention_last_pass_timestamp_seconds',
    help: 'When this process last finished removing what was too old, or when it started.',
    registers: [registry],
  });
  lastPass.setToCurrentTime();
  return {
    retentionRemoved: (kind, count) => removed.inc({ kind }, count),
    retentionPassed: () => lastPass.setToCurrentTime(),
  };
}

/** A gauge that is read at each scrape. */
function countUpAndDown(registry: Registry, name: string, help: string): (change: 1 | -1) => void {
  let count = 0;
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(count);
    },
  });
  return (change) => {
    count += change;
  };
}
