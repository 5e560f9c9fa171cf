import type { AuditAction, AuditDetail, Initiator } from '../../domain/audit.ts';
import type { AuditNote } from '../../storage/store.ts';
import type { Context } from '../context.ts';

/** What the store writes down together with the deed. */
export function auditNote(
  { ids }: Pick<Context, 'ids'>,
  { actor, traceId }: Initiator,
  action: AuditAction,
  subject: string,
  detail: AuditDetail = {},
): AuditNote {
  return { id: ids.event(), actor, traceId, action, subject, detail };
}
