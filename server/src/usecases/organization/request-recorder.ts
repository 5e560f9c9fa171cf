import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Telemetry } from '../../domain/telemetry.ts';
import { hourMs } from '../../domain/time.ts';
import { findBucket, replyOperation } from '../../domain/traffic.ts';
import type { LoggedRequest, Store, TrafficReport } from '../../storage/port/store.ts';

/** Only a slow store lets the queue grow to this length. Further requests are dropped and counted. */
const waitingMax = 10_000;
/** When this many wait, they are flushed early: more than 10,000 requests may arrive between two regular flushes. */
const flushEarlyAt = waitingMax / 2;
/** Written in one transaction: less than 1 ms of the event loop on SQLite. */
const batchSize = 200;
/** The log is cut back to its limit when it has grown by this share of the limit. */
const growthShare = 0.05;

/** A request or a reply that has ended, for the statistics. */
interface Ended extends Pick<TrafficReport, 'organizationId' | 'credentialId' | 'operation' | 'outcome'> {
  readonly at: number;
  readonly ms: number;
}

type Log = Pick<Store, 'addRequests' | 'addTraffic' | 'findOldRequest' | 'removeRequests'>;

export type RequestRecorder = ReturnType<typeof requestRecorder>;

/**
 * Keeps requests and statistics in memory until `flush`, so that no request waits for the log. A process that is killed
 * loses them. The log keeps `keptMax` requests of each organization; 0: no log, only statistics.
 */
export function requestRecorder(store: Log, keptMax: number, telemetry: Pick<Telemetry, 'requestNotLogged'>) {
  const requests: LoggedRequest[] = [];
  let unsent: readonly LoggedRequest[] | undefined;
  const traffic = new TrafficCounter();
  let flushing: Promise<void> | undefined;
  /** How many entries this process has added to the log of an organization since it last cut it back. */
  const added = new Map<OrganizationId, number>();
  /** The newest entry to remove from logs that are above the limit. */
  const ends = new Map<OrganizationId, LogPosition>();

  function count({ at, ms, ...ended }: Ended): void {
    const [hour, bucket] = [Math.floor(at / hourMs), findBucket(ms)];
    traffic.add({ ...ended, hour, bucket, requests: 1, lastAt: at });
  }

  async function flush(): Promise<void> {
    while (flushing) await flushing.catch(() => {});
    flushing = flushLog()
      // Runs even if the log could not be stored.
      .finally(flushTraffic)
      .finally(() => {
        flushing = undefined;
      });
    return flushing;
  }

  async function flushLog(): Promise<void> {
    // Only what waits now: while requests keep arriving, the queue may never be empty.
    for (let left = (unsent?.length ?? 0) + requests.length; left > 0; ) {
      // A batch that failed is sent again as it was: the store may have kept it although the call failed.
      unsent ??= requests.splice(0, batchSize);
      const batch = unsent;
      left -= batch.length;
      if (!(await addOrRetry(() => store.addRequests(batch)))) drop(batch.length);
      unsent = undefined;
      for (const { organizationId } of batch) noteAdded(organizationId, 1);
      await cutBack();
    }
    await cutBack();
  }

  function flushTraffic(): Promise<void> {
    return traffic.flush(async (reports) => {
      const counted = reports.reduce((sum, report) => sum + report.requests, 0);
      if (!(await addOrRetry(() => store.addTraffic(reports)))) drop(counted);
    });
  }

  function drop(dropped: number): void {
    for (let index = 0; index < dropped; index += 1) telemetry.requestNotLogged();
  }

  function noteAdded(organizationId: OrganizationId, entries: number): void {
    // The log of an organization that this process does not know yet may be full.
    added.set(organizationId, (added.get(organizationId) ?? Number.POSITIVE_INFINITY) + entries);
  }

  /** In small steps: after the limit was lowered, the queue would otherwise fill up and drop everyone's requests. */
  async function cutBack(): Promise<void> {
    for (const [organizationId, entries] of added) {
      if (entries < Math.max(1, keptMax * growthShare)) continue;
      added.set(organizationId, 0);
      const end = await store.findOldRequest(organizationId, keptMax);
      if (end !== undefined) ends.set(organizationId, end);
    }
    for (const [organizationId, end] of ends)
      if ((await store.removeRequests(organizationId, end)) === 0) ends.delete(organizationId);
  }

  return {
    count,

    request(request: LoggedRequest): void {
      const { organizationId, credentialId, operation, code, at, latencyUs } = request;
      const outcome = code ?? 'OK';
      count({ organizationId, credentialId, operation, outcome, at, ms: latencyUs / 1000 });
      if (keptMax === 0) noteAdded(organizationId, 0);
      else if (requests.length < waitingMax) requests.push(request);
      else telemetry.requestNotLogged();
      // The next regular flush may come too late. It repeats an early one that fails, and reports the failure.
      if (requests.length === flushEarlyAt) flush().catch(() => {});
    },

    /**
     * Stores what is waiting, and removes old entries. If the store fails, it keeps the rest for the next flush and rejects.
     * Drops and counts a batch whose values the store rejects, so that later ones do not wait for it. Starts after a flush in
     * progress, which may not include the latest requests.
     */
    flush,
  };
}

/** A batch may be rejected because an organization is purged at the same time. The second try drops what belongs to it. */
async function addOrRetry(add: () => Promise<boolean>): Promise<boolean> {
  return (await add()) || (await add());
}

/** The same telemetry, which also counts ended replies in the statistics of their organization. */
export function recordReplies(telemetry: Telemetry, recorder: RequestRecorder, now: () => number): Telemetry {
  const count = (outcome: string, ms: number, organizationId: OrganizationId) =>
    recorder.count({ organizationId, credentialId: null, operation: replyOperation, outcome, at: now(), ms });
  return {
    ...telemetry,
    replyLeft(outcome, ms, organizationId) {
      telemetry.replyLeft(outcome, ms, organizationId);
      if (outcome === 'completed' || outcome === 'failed') count(outcome, ms, organizationId);
    },
    replyEnded(outcome, organizationId) {
      telemetry.replyEnded(outcome, organizationId);
      count(outcome, 0, organizationId);
    },
  };
}

interface Sum {
  requests: number;
  lastAt: number;
}

/** Adds up reports of the same kind. */
class TrafficCounter {
  /** By credential, or by organization if there is no credential. */
  #reports = new Map<string, TrafficReport[]>();

  // A linear search, because this runs for every request: building a composite key costs three times as much, and there are
  // few operations, outcomes and durations.
  add(report: TrafficReport): void {
    const key = report.credentialId ?? report.organizationId;
    const reports = this.#reports.get(key) ?? [];
    if (reports.length === 0) this.#reports.set(key, reports);
    const known: Sum | undefined = reports.find((each) => isSameKind(each, report));
    if (known === undefined) return void reports.push({ ...report });
    known.requests += report.requests;
    known.lastAt = Math.max(known.lastAt, report.lastAt);
  }

  /** Stores batch after batch. If the store fails, it keeps the rest for the next flush and rejects. */
  async flush(store: (reports: readonly TrafficReport[]) => Promise<void>): Promise<void> {
    const left = [...this.#reports.values()].flat();
    this.#reports = new Map();
    try {
      for (; left.length > 0; left.splice(0, batchSize)) await store(left.slice(0, batchSize));
    } catch (error) {
      for (const report of left) this.add(report);
      throw error;
    }
  }
}

/** Assumes that both reports have the same credential, or none. */
function isSameKind(a: TrafficReport, b: TrafficReport): boolean {
  return (
    a.bucket === b.bucket &&
    a.operation === b.operation &&
    a.outcome === b.outcome &&
    a.hour === b.hour &&
    a.organizationId === b.organizationId
  );
}
