import type { ErrorCode } from './errors.ts';
import type { OrganizationId, UserId } from './id.ts';

/** Upper bounds of the duration buckets, in milliseconds; the last bucket is unbounded. Stored rows refer to them by index. */
const bucketMs = [
  1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800, 1_200, 2_000, 3_000, 5_000, 8_000, 12_000,
  20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
] as const;

/** The operation under which replies are counted beside the requests. Their outcomes are the states in which they end. */
export const replyOperation = 'reply';

export function findBucket(ms: number): number {
  const index = bucketMs.findIndex((bound) => ms <= bound);
  return index === -1 ? bucketMs.length : index;
}

/** The duration below which this share of the requests stayed, estimated within its bucket; null without requests. */
export function percentile(counts: readonly number[], share: number): number | null {
  const all = counts.reduce((sum, count) => sum + (count ?? 0), 0);
  if (all === 0) return null;
  const rank = share * all;
  let below = 0;
  for (const [bucket, count = 0] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      const from = bucketMs[bucket - 1] ?? 0;
      const to = bucketMs[bucket] ?? from;
      return from + ((to - from) * (rank - below)) / count;
    }
    below += count;
  }
  return bucketMs.at(-1)!;
}

/** When the request with this trace ID, a UUID of version 7, arrived; undefined if it is not such an id. */
export function traceStart(traceId: string): number | undefined {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7/.exec(traceId) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}

/** What the trace IDs of requests that arrive at this time start with. */
export function traceIdStart(at: number): string {
  const time = Math.max(0, at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** A request whose response is ready, for the log lines and the statistics. */
export interface AnsweredRequest {
  readonly traceId: string;
  readonly method: string;
  /** The pattern of the route, never the path that was requested. */
  readonly route: string;
  /** The operation's id in the OpenAPI document. */
  readonly operation: string;
  readonly status: number;
  readonly ms: number;
  readonly organizationId?: OrganizationId | undefined;
  readonly credentialId?: string | undefined;
  readonly personId?: UserId | undefined;
  readonly error?: { readonly code: ErrorCode; readonly message: string } | undefined;
}
