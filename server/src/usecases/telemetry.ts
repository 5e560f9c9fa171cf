import type { RetentionKind } from '../domain/retention.ts';

/**
 * Told of what an operator counts. It never fails and never waits. Its words are few by their types, and never an id: what
 * is counted by them stays bounded, whoever calls and however many there are.
 */
export interface Telemetry {
  requestBegan(): void;
  /** `route` is the pattern, never the address itself. */
  requestEnded(method: string, route: string, status: number, ms: number): void;
  /** A request that was refused before it was one: broken HTTP. */
  requestRefused(): void;
  quotaExceeded(): void;
  /** A read begins to wait for a reply (1), or has waited (-1). */
  readsWaiting(change: 1 | -1): void;
  tokenRequested(outcome: 'issued' | 'invalid-client' | 'unauthorized-client' | 'throttled'): void;
  replyBegan(): void;
  /** Once for each `replyBegan`. */
  replyLeft(outcome: AttemptOutcome, ms: number): void;
  /** Those that no worker of this process ended: cancelled, or failed by their deadline. */
  repliesEnded(outcome: 'cancelled' | 'failed', count: number): void;
  /** A log line that was not written because the output took none. */
  logLineDropped(): void;
  retentionRemoved(kind: RetentionKind, count: number): void;
  /** Everything that is older than the settings allow has been removed. */
  retentionPassed(): void;
}

/** How a worker leaves a reply. `stopped`: it was cancelled or taken over, or the worker stops; nothing was settled here. */
export type AttemptOutcome = 'completed' | 'failed' | 'retried' | 'stopped';

const ignore = () => {};

/** Nobody counts. */
export const noTelemetry: Telemetry = {
  requestBegan: ignore,
  requestEnded: ignore,
  requestRefused: ignore,
  quotaExceeded: ignore,
  readsWaiting: ignore,
  tokenRequested: ignore,
  replyBegan: ignore,
  replyLeft: ignore,
  repliesEnded: ignore,
  logLineDropped: ignore,
  retentionRemoved: ignore,
  retentionPassed: ignore,
};
