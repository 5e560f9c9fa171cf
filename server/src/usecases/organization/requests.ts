import { nextTurn } from '../../../../runtime/src/turns.ts';
import type { AuditAction, AuditEvent } from '../../domain/audit.ts';
import type { KeyOwners } from '../../domain/credential.ts';
import { type LogPosition, openCursor, type Seal, sealCursor } from '../../domain/cursor.ts';
import { organizationNotFound } from '../../domain/errors.ts';
import { isApplicationId, type OrganizationId } from '../../domain/id.ts';
import { dayMs, hourMs, utcDay, utcMidnight } from '../../domain/time.ts';
import { percentile, replyOperation } from '../../domain/traffic.ts';
import type { RequestFilter, Store, TrafficCount } from '../../storage/port/store.ts';
import type { AuditSearch } from './audit-log.ts';

/** More counts than this would take too long to load: a count is of a day, a credential, an operation and an outcome. */
const countsMax = 5_000;

interface UsageNeeds {
  readonly store: Pick<
    Store,
    'readQuota' | 'listUsage' | 'nameCredentials' | 'listTraffic' | 'listRequests' | 'findRequest'
  >;
  readonly now: () => number;
  readonly seal: Seal;
}

export type Usage = ReturnType<typeof createUsage>;

/** What an organization's credentials were used for: counts, statistics and the request log. */
export function createUsage({ store, now, seal }: UsageNeeds) {
  return { read, readTraffic, listRequests, findLoggedRequests };

  /** A member sees requests of their own keys only. The last second may be missing. `isCut`: there are earlier ones. */
  async function read(organizationId: OrganizationId, owners: KeyOwners, days: number) {
    const at = now();
    const lastDay = utcDay(at);
    const firstDay = lastDay - days + 1;
    const [quota, found] = await Promise.all([
      store.readQuota(organizationId, lastDay),
      store.listUsage(
        organizationId,
        firstDay,
        lastDay,
        countsMax + 1,
        owners === 'all' ? undefined : owners,
      ),
    ]);
    if (quota === undefined) throw organizationNotFound();
    const counts = found.slice(-countsMax);
    const findName = await nameCredentials(organizationId, counts);
    return {
      quota: { ...quota, resetsAt: utcMidnight(at) + dayMs },
      firstDay,
      lastDay,
      counts: counts.map((count) => ({ ...count, credential: findName(count.credentialId) })),
      isCut: found.length > countsMax,
    };
  }

  /** The last `length` hours or days, with the current one. Durations, in ms, are estimated from buckets. */
  async function readTraffic(organizationId: OrganizationId, unit: 'hour' | 'day', length: number) {
    const last = unit === 'hour' ? Math.floor(now() / hourMs) : utcDay(now());
    const first = last - length + 1;
    const all = await store.listTraffic(organizationId, unit, first, last);
    const requests = all.filter(({ operation }) => operation !== replyOperation);
    const replies = all.filter(({ operation }) => operation === replyOperation);
    const failed = requests.filter(({ outcome }) => outcome !== 'OK');
    const ended = (state: string) => total(replies.filter(({ outcome }) => outcome === state));
    return {
      /** Hours or days since 1970. */
      first,
      last,
      counts: requests,
      operations: grouped(requests, ({ operation }) => operation).map(([operation, counts]) => ({
        operation,
        requests: total(counts),
        errors: total(counts.filter(({ outcome }) => outcome !== 'OK')),
        ...computePercentiles(counts),
      })),
      errors: grouped(failed, ({ outcome }) => outcome).map(([code, counts]) => {
        return { code, requests: total(counts) };
      }),
      replies: {
        completed: ended('completed'),
        failed: ended('failed'),
        cancelled: ended('cancelled'),
        ...computePercentiles(replies.filter(({ outcome }) => outcome === 'completed')),
      },
    };
  }

  /** Newest first; the last second may be missing. A page may be short or empty although more follow. */
  async function listRequests(organizationId: OrganizationId, search: RequestSearch) {
    const { from = 0, to = Number.MAX_SAFE_INTEGER - 1, cursor, limit, traceId, ...filter } = search;
    const listing = ['requests', organizationId, filter, from, to];
    const before = openCursor<LogPosition>(seal, listing, cursor) ?? { at: to + 1, id: '' };
    // One extra entry shows whether there is another page.
    const query = { ...filter, before, since: from, limit: limit + 1 };
    const { requests, searched } =
      traceId === undefined
        ? await store.listRequests(organizationId, query)
        : { requests: await findOne(organizationId, traceId), searched: null };
    const lastShown = requests.length > limit ? requests[limit - 1] : undefined;
    const last = lastShown ? { at: lastShown.at, id: lastShown.traceId } : searched;
    const shown = requests.slice(0, limit);
    const findName = await nameCredentials(organizationId, shown);
    return {
      requests: shown.map((request) => ({ ...request, credential: findName(request.credentialId) })),
      nextCursor: last && sealCursor(seal, listing, last),
      /** How far the search went back; null if it reached the end. */
      searchedTo: last?.at ?? null,
    };
  }

  /** The trace IDs of the audit entries whose API request is in the request log. */
  async function findLoggedRequests(
    organizationId: OrganizationId,
    events: readonly Pick<AuditEvent, 'action' | 'traceId'>[],
  ): Promise<ReadonlySet<string>> {
    const caused = events.filter(({ action }) => requestActions.has(action)).map(({ traceId }) => traceId);
    const logged = new Set<string>();
    for (const id of new Set(caused)) {
      // A lookup reads a whole block of the log.
      await nextTurn(organizationId);
      if ((await findOne(organizationId, id)).length > 0) logged.add(id);
    }
    return logged;
  }

  /** Names the credentials of these requests or counts, including revoked keys. A deleted one is named by its id. */
  async function nameCredentials(
    organizationId: OrganizationId,
    used: readonly { readonly credentialId: string }[],
  ) {
    const ids = new Set(used.map(({ credentialId }) => credentialId));
    const found = await store.nameCredentials(organizationId, [...ids]);
    const names = new Map(found.map(({ id, name }) => [id, name]));
    return (id: string) => {
      const kind = isApplicationId(id) ? ('application' as const) : ('key' as const);
      return { id, kind, name: names.get(id) ?? id };
    };
  }

  async function findOne(organizationId: OrganizationId, traceId: string) {
    const found = await store.findRequest(organizationId, traceId);
    return found ? [found] : [];
  }
}

function grouped(counts: readonly TrafficCount[], toKey: (count: TrafficCount) => string) {
  const groups = Map.groupBy(counts, toKey);
  return [...groups].sort(([, one], [, other]) => total(other) - total(one));
}

function total(counts: readonly TrafficCount[]): number {
  return counts.reduce((sum, { requests }) => sum + requests, 0);
}

function computePercentiles(counts: readonly TrafficCount[]) {
  const buckets: number[] = [];
  for (const { bucket, requests } of counts) buckets[bucket] = (buckets[bucket] ?? 0) + requests;
  return { p50: percentile(buckets, 0.5), p95: percentile(buckets, 0.95), p99: percentile(buckets, 0.99) };
}

interface RequestSearch extends RequestFilter, Pick<AuditSearch, 'from' | 'to' | 'traceId'> {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The actions that an API request can cause. All others come from the console, the operator or the service. */
const requestActions: ReadonlySet<AuditAction> = new Set(['thread.deleted', 'reply.failed']);
