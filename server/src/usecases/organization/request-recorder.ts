import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { hourMs } from '../../domain/time.ts';
import { bucketOf, replyOperation } from '../../domain/traffic.ts';
import type { LoggedRequest, Store, TrafficReport } from '../../storage/store.ts';
import type { Telemetry } from '../telemetry.ts';

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

interface Settings {
  /** How many requests the log keeps of one organization; 0: no log, only statistics. */
  readonly keptMax: number;
  readonly telemetry: Pick<Telemetry, 'requestNotLogged'>;
  /** Called when the queue is so long that the next regular flush may come too late. */
  flushNow?(): void;
}

type Log = Pick<Store, 'addRequests' | 'addTraffic' | 'findOldRequest' | 'removeRequests'>;

/** Keeps requests and statistics in memory until `flush`, so that no request waits for the log. A kill loses them. */
export class RequestRecorder {
  readonly #settings: Settings;
  #requests: LoggedRequest[] = [];
  #batch: readonly LoggedRequest[] | undefined;
  readonly #traffic = new TrafficCounter();
  #flushing: Promise<void> | undefined;
  /** How many entries this process has added to the log of an organization since it last cut it back. */
  readonly #added = new Map<OrganizationId, number>();
  /** The newest entry to remove from logs that are above the limit. */
  readonly #ends = new Map<OrganizationId, LogPosition>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  request(request: LoggedRequest): void {
    const { organizationId, credentialId, operation, code, at, latencyUs } = request;
    const outcome = code ?? 'OK';
    this.count({ organizationId, credentialId, operation, outcome, at, ms: latencyUs / 1000 });
    if (this.#settings.keptMax === 0) this.#noteAdded(organizationId, 0);
    else if (this.#requests.length < waitingMax) this.#requests.push(request);
    else this.#settings.telemetry.requestNotLogged();
    if (this.#requests.length === flushEarlyAt) this.#settings.flushNow?.();
  }

  count({ at, ms, ...ended }: Ended): void {
    const [hour, bucket] = [Math.floor(at / hourMs), bucketOf(ms)];
    this.#traffic.add({ ...ended, hour, bucket, requests: 1, lastAt: at });
  }

  /**
   * Stores what is waiting, and removes old entries. If the store fails, it keeps the rest for the next flush and rejects.
   * Drops and counts a batch whose values the store rejects, so that later ones do not wait for it. Starts after a flush in
   * progress, which may not include the latest requests.
   */
  async flush(store: Log): Promise<void> {
    while (this.#flushing) await this.#flushing.catch(() => {});
    this.#flushing = this.#flushLog(store)
      // Even if the log could not be stored.
      .finally(() => this.#flushTraffic(store))
      .finally(() => {
        this.#flushing = undefined;
      });
    return this.#flushing;
  }

  async #flushLog(store: Log): Promise<void> {
    // Only what waits now: while requests keep arriving, the queue may never be empty.
    for (let left = (this.#batch?.length ?? 0) + this.#requests.length; left > 0; ) {
      // A batch that failed is sent again as it was: the store may have kept it although the call failed.
      this.#batch ??= this.#requests.splice(0, batchSize);
      const batch = this.#batch;
      left -= batch.length;
      if (!(await addOrRetry(() => store.addRequests(batch)))) this.#drop(batch.length);
      this.#batch = undefined;
      for (const { organizationId } of batch) this.#noteAdded(organizationId, 1);
      await this.#findOld(store);
      await this.#removeOld(store);
    }
    await this.#findOld(store);
    await this.#removeOld(store);
  }

  #flushTraffic(store: Log): Promise<void> {
    return this.#traffic.flush(async (reports) => {
      const requests = reports.reduce((sum, report) => sum + report.requests, 0);
      if (!(await addOrRetry(() => store.addTraffic(reports)))) this.#drop(requests);
    });
  }

  #drop(requests: number): void {
    for (let count = 0; count < requests; count += 1) this.#settings.telemetry.requestNotLogged();
  }

  #noteAdded(organizationId: OrganizationId, entries: number): void {
    // The log of an organization that this process does not know yet may be full.
    const added = this.#added.get(organizationId) ?? Number.POSITIVE_INFINITY;
    this.#added.set(organizationId, added + entries);
  }

  async #findOld(store: Pick<Store, 'findOldRequest'>): Promise<void> {
    const { keptMax } = this.#settings;
    for (const [organizationId, added] of this.#added) {
      if (added < Math.max(1, keptMax * growthShare)) continue;
      this.#added.set(organizationId, 0);
      const end = await store.findOldRequest(organizationId, keptMax);
      if (end !== undefined) this.#ends.set(organizationId, end);
    }
  }

  /** Not all at once: after the limit was lowered, the queue would fill up and drop requests of every organization. */
  async #removeOld(store: Pick<Store, 'removeRequests'>): Promise<void> {
    for (const [organizationId, end] of this.#ends)
      if ((await store.removeRequests(organizationId, end)) === 0) this.#ends.delete(organizationId);
  }
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
  /** By credential, or by organization without one. */
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

/** Of two reports with the same credential, or without one. */
function isSameKind(a: TrafficReport, b: TrafficReport): boolean {
  return (
    a.bucket === b.bucket &&
    a.operation === b.operation &&
    a.outcome === b.outcome &&
    a.hour === b.hour &&
    a.organizationId === b.organizationId
  );
}
