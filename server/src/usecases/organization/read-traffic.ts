import type { OrganizationId } from '../../domain/id.ts';
import { utcDay } from '../../domain/quota.ts';
import { hourMs, percentile, replyOperation } from '../../domain/traffic.ts';
import type { TrafficCount } from '../../storage/store.ts';
import type { Context } from '../context.ts';

export type Traffic = Awaited<ReturnType<typeof readTraffic>>;

/**
 * How the organization's requests and replies of the last `length` hours or days went, including the current one.
 * Durations are in milliseconds, estimated from buckets. Those of replies are of completed ones.
 */
export async function readTraffic(
  { store, now }: Context,
  organizationId: OrganizationId,
  unit: 'hour' | 'day',
  length: number,
) {
  const last = unit === 'hour' ? Math.floor(now() / hourMs) : utcDay(now());
  const first = last - length + 1;
  const all = await store.listTraffic(organizationId, unit, first, last);
  const requests = all.filter(({ operation }) => operation !== replyOperation);
  const replies = all.filter(({ operation }) => operation === replyOperation);
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
      ...percentilesOf(counts),
    })),
    errors: grouped(
      requests.filter(({ outcome }) => outcome !== 'OK'),
      ({ outcome }) => outcome,
    ).map(([code, counts]) => ({ code, requests: total(counts) })),
    replies: {
      completed: ended('completed'),
      failed: ended('failed'),
      cancelled: ended('cancelled'),
      ...percentilesOf(replies.filter(({ outcome }) => outcome === 'completed')),
    },
  };
}

/** The largest group first. */
function grouped(counts: readonly TrafficCount[], keyOf: (count: TrafficCount) => string) {
  const groups = Map.groupBy(counts, keyOf);
  return [...groups].sort(([, one], [, other]) => total(other) - total(one));
}

function total(counts: readonly TrafficCount[]): number {
  return counts.reduce((sum, { requests }) => sum + requests, 0);
}

function percentilesOf(counts: readonly TrafficCount[]) {
  const buckets: number[] = [];
  for (const { bucket, requests } of counts) buckets[bucket] = (buckets[bucket] ?? 0) + requests;
  const filled = Array.from(buckets, (count) => count ?? 0);
  return { p50: percentile(filled, 0.5), p95: percentile(filled, 0.95), p99: percentile(filled, 0.99) };
}
