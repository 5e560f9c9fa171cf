import type { Actor, AuditAction, AuditEvent } from '../../domain/audit.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { AuditNote, Audits } from '../store.ts';
import { empty, type Sql, sql, statement, type Values } from './sql.ts';
import { rows, run, type Transactions, type Work } from './work.ts';

export interface AuditRow {
  at: number;
  id: string;
  actorKind: Actor['kind'];
  actorUserId: UserId | null;
  actorEmail: string | null;
  action: AuditAction;
  subject: string;
  detail: string;
  traceId: string;
}

/**
 * Writes an audit note for every row of `change`, a relation with one row per organization, and none if nothing was
 * changed. `organization` and `at` are expressions over that row. `noteValues` has the values.
 */
export function insertNote(change: Sql, organization: Sql, at: Sql): Sql {
  return sql`INSERT INTO audit_event
      (organization_id, at, id, actor_kind, actor_user_id, action, subject, detail, trace_id)
    SELECT ${organization}, ${at}, :noteId, :noteActorKind, :noteActorUserId, :noteAction, :noteSubject, :noteDetail,
      :noteTraceId
    FROM ${change}`;
}

export function noteValues({ id, actor, action, subject, detail, traceId }: AuditNote): Values {
  return {
    noteId: id,
    noteActorKind: actor.kind,
    noteActorUserId: actor.kind === 'user' ? actor.userId : null,
    noteAction: action,
    noteSubject: subject,
    noteDetail: JSON.stringify(detail),
    noteTraceId: traceId,
  };
}

const write = statement('write-audit')`
  ${insertNote(sql`(SELECT :now AS at) AS moment`, sql`:organizationId`, sql`at`)} RETURNING at`;

/** To be called in the transaction of the change that the note describes, after the change. */
export function* writeNote(organizationId: OrganizationId, note: AuditNote): Work<void> {
  yield* run(write, { organizationId, ...noteValues(note) });
}

/** Writes the same note in several organizations. */
export function* writeNotes(
  organizations: readonly { readonly organizationId: OrganizationId }[],
  note: AuditNote,
): Work<void> {
  for (const { organizationId } of organizations) yield* writeNote(organizationId, note);
}

const selectEvents = (hint: Sql, filter: Sql) => sql`
  SELECT at, audit_event.id, actor_kind AS "actorKind", actor_user_id AS "actorUserId", email AS "actorEmail", action,
    subject, detail, trace_id AS "traceId"
  FROM audit_event ${hint} LEFT JOIN "user" ON "user".id = actor_user_id
  WHERE organization_id = :organizationId ${filter} AND (at, audit_event.id) < (:beforeAt, :beforeId)
  ORDER BY at DESC, audit_event.id DESC LIMIT :limit`;

export const listAudit = statement('list-audit')`${selectEvents(empty, empty)}`;
// Without the hint SQLite uses the primary key, and scans the whole log for a trace id that does not occur.
export const listAuditOfTrace = statement('list-audit-of-trace')`
  ${selectEvents(sql`INDEXED BY audit_event_trace`, sql`AND trace_id = :traceId`)}`;

/** Later than every entry. */
const newest = { at: Number.MAX_SAFE_INTEGER, id: '' };

export function audits({ read, write }: Transactions): Audits {
  return {
    writeAudit: (organizationId, note) => write(() => writeNote(organizationId, note)),

    async listAudit(organizationId, { before = newest, traceId, limit }) {
      const values = { organizationId, beforeAt: before.at, beforeId: before.id, traceId, limit };
      const list = traceId === undefined ? listAudit : listAuditOfTrace;
      return (await read(() => rows<AuditRow>(list, values))).map(toAuditEvent);
    },
  };
}

function toAuditEvent({ actorKind, actorUserId, detail, ...event }: AuditRow): AuditEvent {
  const actor: Actor = actorKind === 'user' ? { kind: actorKind, userId: actorUserId! } : { kind: actorKind };
  return { ...event, actor, detail: JSON.parse(detail) };
}
