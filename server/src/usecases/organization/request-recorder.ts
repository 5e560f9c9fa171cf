import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { hourMs, utcDay } from '../../domain/time.ts';
import { bucketOf, replyOperation } from '../../domain/traffic.ts';
import type { LoggedRequest, Store, TrafficReport, UsageReport } from '../../storage/store.ts';
import type { Telemetry } from '../telemetry.ts';

/** Only a slow store lets the queue grow to this length. Further requests are dropped and counted. */
const waitingMax = 10_000;
/** When this many wait, they are flushed early: more than 10,000 requests may arrive between two regular flushes. */
const flushEarlyAt = waitingMax / 2;
/** Written in one transaction: less than 1 ms of the event loop on SQLite. */
const batchSize = 200;
/** The log is cut back to its limit when it has grown by this share of the limit. */
const growthShare = 0.05;

interface EndedReply {
  readonly organizationId: OrganizationId;
  readonly outcome: 'completed' | 'failed' | 'cancelled';
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

type Log = Pick<Store, 'addRequests' | 'findOldRequest' | 'removeRequests'>;

/** Keeps requests and replies in memory until `flush`, so that no request waits for the log. A kill loses them. */
export class RequestRecorder {
  readonly #settings: Settings;
  #requests: LoggedRequest[] = [];
  #replies: EndedReply[] = [];
  #batch: { readonly requests: LoggedRequest[]; readonly replies: EndedReply[] } | undefined;
  #flushing: Promise<void> | undefined;
  /** How many entries this process has added to the log of an organization since it last cut it back. */
  readonly #added = new Map<OrganizationId, number>();
  /** The newest entry to remove from logs that are above the limit. */
  readonly #ends = new Map<OrganizationId, LogPosition>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  request(request: LoggedRequest): void {
    if (this.#requests.length < waitingMax) this.#requests.push(request);
    else this.#settings.telemetry.requestNotLogged();
    if (this.#requests.length === flushEarlyAt) this.#settings.flushNow?.();
  }

  reply(reply: EndedReply): void {
    if (this.#replies.length < waitingMax) this.#replies.push(reply);
  }

  /**
   * Stores what is waiting, in batches, and removes old entries. If the store fails, it keeps the rest for the next flush and
   * rejects. Drops and counts a batch whose values the store rejects, so that later ones do not wait for it.
   */
  flush(store: Log): Promise<void> {
    this.#flushing ??= this.#flushAll(store).finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #flushAll(store: Log): Promise<void> {
    while (this.#batch !== undefined || this.#requests.length + this.#replies.length > 0) {
      // A batch that failed is sent again as it was: the store may have kept it although the call failed.
      this.#batch ??= {
        requests: this.#requests.splice(0, batchSize),
        replies: this.#replies.splice(0, batchSize),
      };
      const { requests, replies } = this.#batch;
      const logged = this.#settings.keptMax === 0 ? [] : requests;
      const traffic = trafficOf(requests, replies);
      // A batch may be rejected because an organization is purged at the same time. The second try drops what belongs to it.
      const isStored =
        (await store.addRequests(logged, traffic)) || (await store.addRequests(logged, traffic));
      if (!isStored) {
        await store.addRequests([], traffic);
        for (const _ of logged) this.#settings.telemetry.requestNotLogged();
      }
      this.#batch = undefined;
      for (const { organizationId } of requests) {
        // The log of an organization that this process does not know yet may be full.
        const added = this.#added.get(organizationId) ?? Number.POSITIVE_INFINITY;
        this.#added.set(organizationId, added + (this.#settings.keptMax === 0 ? 0 : 1));
      }
      await this.#findOld(store);
      await this.#removeOld(store);
    }
    await this.#removeOld(store);
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

/** The same telemetry, which also counts ended replies in the statistics of their organization. */
export function recordReplies(telemetry: Telemetry, recorder: RequestRecorder, now: () => number): Telemetry {
  return {
    ...telemetry,
    replyLeft(outcome, ms, organizationId) {
      telemetry.replyLeft(outcome, ms, organizationId);
      if (outcome === 'completed' || outcome === 'failed')
        recorder.reply({ organizationId, outcome, at: now(), ms });
    },
    replyEnded(outcome, organizationId) {
      telemetry.replyEnded(outcome, organizationId);
      recorder.reply({ organizationId, outcome, at: now(), ms: 0 });
    },
  };
}

function trafficOf(requests: readonly LoggedRequest[], replies: readonly EndedReply[]): TrafficReport[] {
  const ended = [
    ...requests.map(({ organizationId, at, operation, code, latencyUs }) => {
      return { organizationId, at, operation, outcome: code ?? 'OK', ms: latencyUs / 1000 };
    }),
    ...replies.map((reply) => ({ ...reply, operation: replyOperation })),
  ].map(({ organizationId, at, operation, outcome, ms }) => {
    return { organizationId, period: Math.floor(at / hourMs), operation, outcome, bucket: bucketOf(ms) };
  });
  const groups = Map.groupBy(
    ended,
    ({ organizationId, period, operation, outcome, bucket }) =>
      `${organizationId} ${period} ${operation} ${outcome} ${bucket}`,
  );
  return [...groups.values()].flatMap((group) => {
    const hour = { ...group[0]!, unit: 'hour', requests: group.length } as const;
    return [hour, { ...hour, unit: 'day', period: utcDay(hour.period * hourMs) } as const];
  });
}

type Count = { -readonly [Field in keyof UsageReport]: UsageReport[Field] };

/** Counts requests in memory, so that none waits for statistics. A kill loses what was not flushed. */
export class UsageCounter {
  /** By credential. A credential belongs to one organization and has few counts: operations and outcomes are few. */
  #counts = new Map<string, Count[]>();

  /** Counts a request that was answered at `at`. `outcome` is `OK` or the error's code. */
  count(request: Omit<UsageReport, 'day' | 'requests' | 'lastUsedAt'> & { at: number }): void {
    const { organizationId, credentialId, operation, outcome, at } = request;
    const day = utcDay(at);
    this.#add({ organizationId, credentialId, operation, outcome, day, requests: 1, lastUsedAt: at });
  }

  /** Stores the counts since the last flush. If the store fails, it keeps them for the next flush and rejects. */
  async flush(store: Pick<Store, 'addUsage'>): Promise<void> {
    const reports = [...this.#counts.values()].flat();
    if (reports.length === 0) return;
    this.#counts = new Map();
    try {
      await store.addUsage(reports);
    } catch (error) {
      for (const report of reports) this.#add(report);
      throw error;
    }
  }

  // A linear search, because this runs for every request: building a composite key costs three times as much.
  #add(report: UsageReport): void {
    const { credentialId, operation, outcome, day, requests, lastUsedAt } = report;
    const counts = this.#counts.get(credentialId) ?? [];
    if (counts.length === 0) this.#counts.set(credentialId, counts);
    const known = counts.find(
      (one) => one.operation === operation && one.outcome === outcome && one.day === day,
    );
    if (known === undefined) return void counts.push({ ...report });
    known.requests += requests;
    known.lastUsedAt = Math.max(known.lastUsedAt, lastUsedAt);
  }
}
