import type { Actor, AuditAction, AuditEvent } from '../domain/audit.ts';
import type { UserId } from '../domain/id.ts';
import type { AuditNote } from './audit-store.ts';

/** The columns of an event besides its organization and its time. */
export const auditColumns = [
  'id',
  'actor_kind',
  'actor_user_id',
  'action',
  'subject',
  'detail',
  'trace_id',
] as const;

export interface AuditRow {
  at: number;
  id: string;
  actor_kind: Actor['kind'];
  actor_user_id: UserId | null;
  actor_email: string | null;
  action: AuditAction;
  subject: string;
  detail: string;
  trace_id: string;
}

/** In the order of `auditColumns`. */
export function auditValues({ id, actor, action, subject, detail, traceId }: AuditNote): unknown[] {
  const userId = actor.kind === 'user' ? actor.userId : null;
  return [id, actor.kind, userId, action, subject, JSON.stringify(detail), traceId];
}

export function toAuditEvent(row: AuditRow): AuditEvent {
  const { at, id, actor_email: actorEmail, action, subject, trace_id: traceId } = row;
  return {
    id,
    at,
    actor: toActor(row),
    actorEmail,
    action,
    subject,
    detail: JSON.parse(row.detail),
    traceId,
  };
}

function toActor({ actor_kind, actor_user_id }: AuditRow): Actor {
  return actor_kind === 'user' ? { kind: actor_kind, userId: actor_user_id! } : { kind: actor_kind };
}
