import type { OrganizationId } from '../../domain/id.ts';
import { utcDay } from '../../domain/quota.ts';
import { hourMs, percentile, replyOperation } from '../../domain/traffic.ts';
import type { TrafficCount } from '../../storage/store.ts';
import type { Context } from '../context.ts';

/** Milliseconds, estimated from buckets; null without requests. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface Traffic {
  /** Hours or days since 1970. */
  readonly first: number;
  readonly last: number;
  readonly counts: readonly Omit<TrafficCount, 'bucket'>[];
  readonly operations: readonly (Percentiles & {
    readonly operation: string;
    readonly requests: number;
    readonly errors: number;
  })[];
  /** By error code, most frequent first. */
  readonly errors: readonly { readonly code: string; readonly requests: number }[];
  /** Durations are those of completed replies. */
  readonly replies: Percentiles & Record<'completed' | 'failed' | 'cancelled', number>;
}

/** How the organization's requests and replies of the last `length` hours or days went, including the current one. */
export async function readTraffic(
  { store, now }: Context,
  organizationId: OrganizationId,
  unit: 'hour' | 'day',
  length: number,
): Promise<Traffic> {
  const last = unit === 'hour' ? Math.floor(now() / hourMs) : utcDay(now());
  const first = last - length + 1;
  const all = await store.listTraffic(organizationId, unit, first, last);
  const requests = all.filter(({ operation }) => operation !== replyOperation);
  const replies = all.filter(({ operation }) => operation === replyOperation);
  const ended = (state: string) => total(replies.filter(({ outcome }) => outcome === state));
  return {
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

function percentilesOf(counts: readonly TrafficCount[]): Percentiles {
  const buckets: number[] = [];
  for (const { bucket, requests } of counts) buckets[bucket] = (buckets[bucket] ?? 0) + requests;
  const filled = Array.from(buckets, (count) => count ?? 0);
  return { p50: percentile(filled, 0.5), p95: percentile(filled, 0.95), p99: percentile(filled, 0.99) };
}
