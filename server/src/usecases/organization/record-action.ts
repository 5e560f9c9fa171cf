import type { AuditAction, AuditDetail } from '../../domain/audit.ts';
import { utcDate, utcDay } from '../../domain/time.ts';
import { authorize } from '../authorize.ts';
import { type AuditSearch, auditNote, type Change } from './audit-log.ts';

/** Writes an audit entry for an action that changes no row, before it is done. */
export async function recordAction(
  change: Change,
  action: AuditAction,
  subject: string,
  detail?: AuditDetail,
): Promise<void> {
  const { context, organizationId } = change;
  const note = auditNote(change, action, subject, detail);
  await authorize(context, note.authority, context.store.writeAudit(organizationId, note));
}

/** Written before the first page, which may show it. Filters other than days are left out: they may name a person. */
export function recordExport(change: Change, { from, to }: Pick<AuditSearch, 'from' | 'to'>): Promise<void> {
  const days = { from: dayOf(from), to: dayOf(to) };
  return recordAction(change, 'audit.exported', change.organizationId, days);
}

function dayOf(at: number | undefined): string | null {
  return at === undefined ? null : utcDate(utcDay(at));
}
