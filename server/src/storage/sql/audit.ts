import type { AuditEvent } from '../../domain/audit.ts';
import { type Actor, type AnyAuthority, toActor } from '../../domain/authority.ts';
import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { AuditNote, Audits } from '../port/store.ts';
import { authorized } from './authority.ts';
import { callColumns, type Sql, sql, statement, type Values } from './sql.ts';
import { method, row, rows, run, type Transactions, type Work } from './work.ts';

export type AuditRow = Omit<AuditEvent, 'actor' | 'detail'> & {
  actorKind: Actor['kind'];
  actorUserId: UserId | null;
  detail: string;
};

export const noteValues = (note: AuditNote<AnyAuthority>): Values => {
  const { id, authority, action, subject, detail, traceId } = note;
  const actor = toActor(authority);
  return {
    noteId: id,
    noteActorKind: actor.kind,
    noteActorUserId: actor.kind === 'user' ? actor.userId : null,
    noteAction: action,
    noteSubject: subject,
    noteDetail: JSON.stringify(detail),
    noteTraceId: traceId,
  };
};

const columns = sql`organization_id, at, id, actor_kind, actor_user_id, action, subject, detail, trace_id`;
const given = sql`:noteId, :noteActorKind, :noteActorUserId, :noteAction, :noteSubject, :noteDetail, :noteTraceId`;
const write = statement('write-audit')`
  INSERT INTO audit_event (${columns}) VALUES (:organizationId, :now, ${given}) RETURNING at`;

/** Call it in the transaction of the change that the note describes, after the change. */
export function* writeNote(organizationId: OrganizationId, note: AuditNote<AnyAuthority>): Work<void> {
  yield* run(write, { organizationId, ...noteValues(note) });
}

export function* writeNotes(
  organizations: readonly { readonly organizationId: OrganizationId }[],
  note: AuditNote<AnyAuthority>,
): Work<void> {
  for (const { organizationId } of organizations) yield* writeNote(organizationId, note);
}

const older = sql`organization_id = :organizationId AND (at, audit_event.id) < (:beforeAt, :beforeId)`;
const newestFirst = sql`ORDER BY at DESC, audit_event.id DESC`;
const selectEvents = (hint: Sql, filter: Sql) => sql`
  SELECT at, audit_event.id, actor_kind AS "actorKind", actor_user_id AS "actorUserId", actor.email AS "actorEmail",
    action, subject, target.email AS "subjectEmail", detail, trace_id AS "traceId"
  FROM audit_event ${hint} LEFT JOIN "user" AS actor ON actor.id = actor_user_id
    LEFT JOIN "user" AS target ON target.id = subject
  WHERE ${older} ${filter} ${newestFirst} LIMIT :limit`;

// Without the hint SQLite uses the primary key, and scans the whole log for a trace ID that does not occur.
export const listAuditOfTrace = statement('list-audit-of-trace')`
  ${selectEvents(sql`INDEXED BY audit_event_trace`, sql`AND trace_id = :traceId AND at >= :since`)}`;

/** A search of a log reads at most this many entries. */
export const searchMax = 5_000;
const findSearchEnd = statement('find-end-of-audit-search')`
  SELECT at, id FROM audit_event WHERE ${older} AND at >= :since ${newestFirst} LIMIT 1 OFFSET ${searchMax - 1}`;
// `at >= :endAt` bounds the scan of the index; SQLite uses only one lower bound, and not the one of a pair.
export const listAudit = statement('list-audit')`
  ${selectEvents(
    sql``,
    sql`AND at >= :endAt AND (at, audit_event.id) >= (:endAt, :endId) AND (:action = '' OR action = :action)
    AND (:actor = '' OR actor_user_id = :actor OR (actor_user_id IS NULL AND actor_kind = :actor))`,
  )}`;

/** Later than every entry of a log. */
export const newest = { at: Number.MAX_SAFE_INTEGER, id: '' };

export const audits = ({ read, write }: Transactions): Audits => ({
  writeAudit: authorized(write, function* (organizationId, note) {
    yield* writeNote(organizationId, note);
    return 'written' as const;
  }),

  listAudit: method(
    read,
    function* (organizationId, { before = newest, since = 0, limit, traceId, ...filter }) {
      const { actor = '', action = '' } = filter;
      const page = { organizationId, beforeAt: before.at, beforeId: before.id, since, limit };
      const isSearch = traceId === undefined && (actor !== '' || action !== '');
      const end = isSearch ? yield* row<LogPosition>(findSearchEnd, page) : undefined;
      const values = { ...page, traceId, actor, action, endAt: end?.at ?? since, endId: end?.id ?? '' };
      const found = yield* rows<AuditRow>(traceId === undefined ? listAudit : listAuditOfTrace, values);
      const last = found.length === limit ? found.at(-1) : end;
      return { events: found.map(toAuditEvent), searched: last ? { at: last.at, id: last.id } : null };
    },
  ),
});

function toAuditEvent({ actorKind, actorUserId, detail, ...event }: AuditRow): AuditEvent {
  const actor: Actor = actorKind === 'user' ? { kind: actorKind, userId: actorUserId! } : { kind: actorKind };
  return { ...event, actor, detail: JSON.parse(detail) };
}

/** The values of `noteValues`, as columns of the calls of a batched statement. */
export const noteColumns = callColumns({
  text: 'noteId noteActorKind noteActorUserId noteAction noteSubject noteDetail noteTraceId',
});

export const withoutNote: Values = Object.fromEntries(Object.keys(noteColumns).map((name) => [name, null]));

/** Part of a batched statement. `changed` has a row for each call that changed something; `at` is an expression over it. */
export const insertNotes = (changed: Sql, at: Sql) => sql`
      INSERT INTO audit_event (${columns})
      SELECT organization_id, ${at}, note_id, note_actor_kind, note_actor_user_id, note_action, note_subject,
        note_detail, note_trace_id
      FROM ${changed} WHERE note_id IS NOT NULL`;

/** The same for a statement of one call. */
export const insertNote = (changed: Sql, at: Sql) =>
  sql`INSERT INTO audit_event (${columns}) SELECT organization_id, ${at}, ${given} FROM ${changed}`;
