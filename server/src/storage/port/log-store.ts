import type { AuditEvent, Initiator } from '../../domain/audit.ts';
import type { AnyAuthority, Authority } from '../../domain/authority.ts';
import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';

/** An entry of the audit log, written in the transaction of the change that it describes, if that changes something. */
export interface AuditNote<A extends AnyAuthority = Authority>
  extends Initiator<A>,
    Pick<AuditEvent, 'action' | 'subject' | 'detail'> {
  /** `evt_` and a time-ordered value. */
  readonly id: string;
}

/** A method on one organization, which is its first argument. */
export type InOrganization<Values extends readonly unknown[], Result> = (
  organizationId: OrganizationId,
  ...values: Values
) => Promise<Result>;

/** The authority of a write does not hold, or no longer: nothing has changed. */
export type Unauthorized = 'unauthorized';

/** A write that takes its authority as its last argument, and verifies it in its own transaction. */
export type AuthorizedMethod<
  Values extends readonly unknown[],
  Result,
  A extends Authority = Authority,
> = InOrganization<[...Values, authority: A], Result | Unauthorized>;

/** The same with the note, which has the authority. It is written if something changes. */
export type AuditedMethod<
  Values extends readonly unknown[],
  Result,
  A extends AnyAuthority = Authority,
> = InOrganization<[...Values, note: AuditNote<A>], Result | Unauthorized>;

/** A page of a log. */
interface LogQuery {
  /** Only older entries. */
  readonly before: LogPosition;
  /** Only entries of this time or later. */
  readonly since: number;
  readonly limit: number;
}

export interface AuditQuery extends Partial<LogQuery> {
  readonly limit: number;
  /** A user's id, `operator` or `skein`. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Only entries of this trace ID, of any actor and action. */
  readonly traceId?: string | undefined;
}

export interface Audits {
  /** For what changes no other row, and for changes that were committed without a note: replies that a sweep failed. */
  writeAudit: AuditedMethod<[], 'written', AnyAuthority>;
  /**
   * Newest first. The cost grows with `limit` only, even with a trace ID. With an actor or an action it searches at most
   * 5,000 entries. `searched` is where it stopped, and null if there is nothing older.
   */
  listAudit: InOrganization<
    [query: AuditQuery],
    { readonly events: AuditEvent[]; readonly searched: LogPosition | null }
  >;
}

/** An answered request of the public API. It has no header, path, query or body. */
export interface LoggedRequest {
  readonly organizationId: OrganizationId;
  /** By the clock of the node that answered it. */
  readonly at: number;
  readonly traceId: string;
  readonly method: string;
  /** The operation's id in the OpenAPI document; `unknown` if the address matches none. */
  readonly operation: string;
  readonly status: number;
  readonly latencyUs: number;
  readonly credentialId: string;
  /** Of the error envelope; null if the request succeeded. */
  readonly code: string | null;
  readonly message: string | null;
}

export interface RequestFilter {
  readonly operation?: string | undefined;
  readonly credentialId?: string | undefined;
  /** 4 for every status from 400 to 499. */
  readonly statusClass?: number | undefined;
  readonly code?: string | undefined;
}

/** Requests or replies with the same operation, outcome and bucket of duration (`domain/traffic.ts`). */
export interface TrafficCount {
  /** Hours or days since 1970, UTC. */
  readonly period: number;
  /** As in `LoggedRequest`. */
  readonly operation: string;
  /** `OK` or the error's code. For replies, the state in which they ended. */
  readonly outcome: string;
  readonly bucket: number;
  readonly requests: number;
}

/** The number of requests of one UTC day with the same credential, operation and outcome. */
export interface UsageCount extends Pick<TrafficCount, 'operation' | 'outcome' | 'requests'> {
  readonly day: number;
  readonly credentialId: string;
}

/** Requests of one hour that were made with the same credential, or replies, which have none. */
export interface TrafficReport extends Omit<TrafficCount, 'period'> {
  readonly organizationId: OrganizationId;
  readonly credentialId: string | null;
  /** Since 1970, UTC. */
  readonly hour: number;
  /** When the last of them ended, by the clock of the node that saw it. */
  readonly lastAt: number;
}

/** How many prompts may be sent in the console in one period, or emails to a person in a day. */
export interface PromptLimit {
  /** Starts with the minute or the UTC day, by the store's clock. */
  readonly period: 'minute' | 'day' | 'mail';
  readonly personMax: number;
  readonly organizationMax: number;
}

export type PromptOutcome =
  | 'counted'
  /** Which limit was reached, and in how many milliseconds the next period starts. */
  | { readonly over: 'person' | 'organization'; readonly resetMs: number };

/**
 * The log of API requests, and statistics. Both survive a killed process, but not always a power cut. `Admissions` enforces
 * quotas.
 */
export interface Requests {
  /**
   * Adds entries in one transaction, in blocks of up to 100. If the same entries are added again, they are kept once. What
   * belongs to an organization that no longer exists is dropped. Returns false, and adds nothing, if the database rejects a
   * value.
   */
  addRequests(requests: readonly LoggedRequest[]): Promise<boolean>;
  /**
   * Adds to the counts of hours, days and credentials, and to the latest uses of credentials, in one transaction. What is
   * dropped or rejected is as in `addRequests`. Counts that are added again, because a response was lost, count twice.
   */
  addTraffic(reports: readonly TrafficReport[]): Promise<boolean>;
  /** Newest first. A filter searches about 5,000 entries: `searched` is where it stopped, null if there is nothing older. */
  listRequests: InOrganization<
    [query: RequestFilter & LogQuery],
    { readonly requests: LoggedRequest[]; readonly searched: LogPosition | null }
  >;
  /** Reads only blocks of requests that arrived at about the time that the trace ID contains. */
  findRequest: InOrganization<[traceId: string], LoggedRequest | undefined>;
  /** The newest block without any of the newest `keep` entries. The cost grows with the number of blocks. */
  findOldRequest: InOrganization<[keep: number], LogPosition | undefined>;
  /** Removes at most 20 blocks up to and including this one, oldest first. Returns how many. */
  removeRequests: InOrganization<[upTo: LogPosition], number>;
  /** Of these hours or days, both included. The cost grows with their number, not with requests. */
  listTraffic: InOrganization<[unit: 'hour' | 'day', first: number, last: number], TrafficCount[]>;
  /** The latest `limit` counts of these days, both included, oldest first; only those of the keys of `userId`, if given. */
  listUsage: InOrganization<
    [firstDay: number, lastDay: number, limit: number, userId?: UserId],
    UsageCount[]
  >;
  /** How many requests were counted against the organization's quota on this day, and the quota. */
  readQuota: InOrganization<[day: number], { used: number; limit: number } | undefined>;
  /**
   * Counts a prompt of the console, or an email, exactly over all nodes. One above the person's limit does not count for
   * the organization, so that one person cannot use up its limit. A period that a wrong clock started after the next one
   * ends at once.
   */
  countPrompt: AuthorizedMethod<[person: UserId, limit: PromptLimit], PromptOutcome>;
}
