import type { AuditAction, AuditDetail, AuditEvent, Initiator } from '../domain/audit.ts';
import type { OrganizationId } from '../domain/id.ts';

/**
 * A deed that is written down in the commit that does it, and only if that changes something: the log has neither a deed
 * that did not happen nor a gap.
 */
export interface AuditNote extends Initiator {
  /** `evt_` and a time-ordered value. */
  readonly id: string;
  readonly action: AuditAction;
  readonly subject: string;
  readonly detail: AuditDetail;
}

export interface AuditPosition {
  readonly at: number;
  readonly id: string;
}

export interface Audits {
  /** For what was committed before by something that takes no note: replies that were overdue. */
  writeAudit(organizationId: OrganizationId, note: AuditNote): Promise<void>;
  /** Newest first. The cost grows with `limit` only, also when a trace id is asked for. */
  listAudit(
    organizationId: OrganizationId,
    query: { readonly before?: AuditPosition; readonly traceId?: string; readonly limit: number },
  ): Promise<AuditEvent[]>;
}
