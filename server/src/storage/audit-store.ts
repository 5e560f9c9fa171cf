import type { AuditAction, AuditDetail, AuditEvent, Initiator } from '../domain/audit.ts';
import type { LogPosition } from '../domain/cursor.ts';
import type { OrganizationId } from '../domain/id.ts';

/**
 * An entry of the audit log. It is written in the transaction of the change that it describes, and only if that changes
 * something: the log has no gap and no change that did not happen.
 */
export interface AuditNote extends Initiator {
  /** `evt_` and a time-ordered value. */
  readonly id: string;
  readonly action: AuditAction;
  readonly subject: string;
  readonly detail: AuditDetail;
}

export interface AuditQuery {
  /** Only older entries. */
  readonly before: LogPosition;
  /** Only entries of this time or later. */
  readonly since: number;
  /** A user's id, `operator` or `skein`. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly limit: number;
}

/** What only the console reads. */
export interface AuditSearches {
  /**
   * Newest first. It searches at most 5,000 entries, so the cost does not grow with the log: `searched` is where it
   * stopped, and null if there is nothing older.
   */
  searchAudit(
    organizationId: OrganizationId,
    query: AuditQuery,
  ): Promise<{ readonly events: AuditEvent[]; readonly searched: LogPosition | null }>;
}

export interface Audits {
  /** For changes that were committed without a note: replies that a sweep failed. */
  writeAudit(organizationId: OrganizationId, note: AuditNote): Promise<void>;
  /** Newest first. The cost grows with `limit` only, also with a trace id. */
  listAudit(
    organizationId: OrganizationId,
    query: { readonly before?: LogPosition; readonly traceId?: string; readonly limit: number },
  ): Promise<AuditEvent[]>;
}
