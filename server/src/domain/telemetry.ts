import type { OrganizationId } from './id.ts';
import type { RetentionKind } from './retention.ts';

/** Never throws, never waits. Labels come from small closed sets, never ids: the number of time series is bounded. */
export interface Telemetry {
  /** A request arrives (1), or its response is ready (-1). */
  requestsInFlight(change: 1 | -1): void;
  /** `route` is the pattern of the route, never the requested path. */
  requestEnded(method: string, route: string, status: number, ms: number): void;
  requestRefused(): void;
  quotaExceeded(): void;
  /** A read starts (1) or stops (-1) waiting for a reply. */
  readsWaiting(change: 1 | -1): void;
  tokenRequested(outcome: 'issued' | 'invalid-client' | 'unauthorized-client' | 'throttled'): void;
  replyBegan(): void;
  /** Once for each `replyBegan`. */
  replyLeft(outcome: AttemptOutcome, ms: number, organizationId: OrganizationId): void;
  /** A reply that no worker of this process ended: cancelled, or failed by its deadline. */
  replyEnded(outcome: 'cancelled' | 'failed', organizationId: OrganizationId): void;
  /** Replies start over because the process that wrote them ended or stalled. */
  repliesCrashed(count: number): void;
  mailAttempted(outcome: 'sent' | 'retried' | 'failed'): void;
  /** A log line was dropped because the output was blocked. */
  logLineDropped(): void;
  /** A request is missing in the request log, because the store was slow or rejected it. */
  requestNotLogged(): void;
  retentionRemoved(kind: RetentionKind, count: number): void;
  retentionPassed(): void;
}

/** How a worker leaves a reply. `stopped`: it was cancelled or taken over, or the worker stops; nothing was settled here. */
export type AttemptOutcome = 'completed' | 'failed' | 'retried' | 'stopped';

export type Log = Record<'info' | 'warn' | 'error', (details: object, message: string) => void>;

const ignore = () => {};

export const noTelemetry: Telemetry = {
  requestsInFlight: ignore,
  requestEnded: ignore,
  requestRefused: ignore,
  quotaExceeded: ignore,
  readsWaiting: ignore,
  tokenRequested: ignore,
  replyBegan: ignore,
  replyLeft: ignore,
  replyEnded: ignore,
  repliesCrashed: ignore,
  mailAttempted: ignore,
  logLineDropped: ignore,
  requestNotLogged: ignore,
  retentionRemoved: ignore,
  retentionPassed: ignore,
};

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestSpan {
  /** Runs `work`, and what it starts, inside the span. */
  run<T>(work: () => T): T;
  end(route: string, status: number, attributes: SpanAttributes): void;
}

/** Records what a request causes as spans of one trace. Attributes never contain prompts, documents or credentials. */
export interface Tracing {
  /**
   * Undefined if nothing is traced. The span continues the trace that the headers name only if a trusted proxy sent them.
   * Otherwise it starts a trace, with a link to that one: a stranger decides neither its id nor whether it is sampled.
   */
  readonly request?: (
    traceId: string,
    method: string,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    fromTrustedProxy: boolean,
  ) => RequestSpan;
  /** Runs `work` as a span of the current trace. Outside a trace it only runs it. */
  span<T>(name: string, attributes: SpanAttributes, work: () => T): T;
  /** Runs `work` as a span of the trace of an earlier request, which another process may have served. */
  afterRequest<T>(traceId: string, name: string, attributes: SpanAttributes, work: () => T): T;
  /** The headers that continue the current trace at another service. */
  headers(): Record<string, string>;
}

export const noTracing: Tracing = {
  span: (_name, _attributes, work) => work(),
  afterRequest: (_traceId, _name, _attributes, work) => work(),
  headers: () => ({}),
};
