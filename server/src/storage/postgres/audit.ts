import type { OrganizationId } from '../../domain/id.ts';
import { type AuditRow, auditColumns, auditValues, toAuditEvent } from '../audit-row.ts';
import type { AuditNote, Audits } from '../store.ts';
import type { Database, Run } from './database.ts';
import { empty, identifier, join, placeholder, type Sql, sql, statement, type Values } from './sql.ts';
import { now, type StoreTime } from './store-time.ts';

const columns = join(auditColumns.map(identifier), sql`, `);
const noteNames = auditColumns.map((column) => `note_${column}`);
const notePlaceholders = join(noteNames.map(placeholder), sql`, `);

/**
 * Writes an audit note for every row of `change`, a relation of the same statement with one row per organization, and no
 * row if nothing was changed. `organization` and `at` are expressions over that row. `noteValues` has the values.
 */
export function insertNote(change: Sql, organization: Sql, at: Sql): Sql {
  return sql`INSERT INTO audit_event (organization_id, at, ${columns})
    SELECT ${organization}, ${at}, ${notePlaceholders} FROM ${change}`;
}

export function noteValues(note: AuditNote): Values {
  const values = auditValues(note);
  return Object.fromEntries(noteNames.map((name, index) => [name, values[index]]));
}

const write = statement('write-audit')`
  ${insertNote(sql`(SELECT ${now} AS at) AS moment`, sql`:organizationId`, sql`at`)} RETURNING at`;

/** For operations of several statements: writes the note in the same transaction. */
export async function writeNote(
  run: Run,
  time: StoreTime,
  organizationId: OrganizationId,
  note: AuditNote,
): Promise<void> {
  const [row] = await run<{ at: number }>(write, { organizationId, ...noteValues(note) });
  time.see(row!.at);
}

const writeMany = statement('write-audits')`${insertNote(
  sql`unnest(:organizationIds::text[]) AS organization (id), (SELECT ${now} AS at) AS moment`,
  sql`id`,
  sql`at`,
)}`;

/** Writes the same note in several organizations, once in each. */
export async function writeNotes(
  run: Run,
  organizations: readonly { readonly organizationId: OrganizationId }[],
  note: AuditNote,
): Promise<void> {
  const organizationIds = [...new Set(organizations.map(({ organizationId }) => organizationId))];
  if (organizationIds.length > 0) await run(writeMany, { organizationIds, ...noteValues(note) });
}

const selectEvents = (filter: Sql) => sql`
  SELECT at, audit_event.id, actor_kind, actor_user_id, email AS actor_email, action, subject, detail, trace_id
  FROM audit_event LEFT JOIN "user" ON "user".id = actor_user_id
  WHERE organization_id = :organizationId AND (at, audit_event.id) < (:beforeAt, :beforeId) ${filter}
  ORDER BY at DESC, audit_event.id DESC LIMIT :limit`;

const list = statement('list-audit')`${selectEvents(empty)}`;
const listOfTrace = statement('list-audit-of-trace')`${selectEvents(sql`AND trace_id = :traceId`)}`;

/** Later than every entry. */
const newest = { at: Number.MAX_SAFE_INTEGER, id: '' };

export function postgresAudits({ run, time }: Database): Audits {
  return {
    writeAudit: (organizationId, note) => writeNote(run, time, organizationId, note),

    async listAudit(organizationId, { before = newest, traceId, limit }) {
      const values = { organizationId, beforeAt: before.at, beforeId: before.id, traceId, limit };
      const rows = await run<AuditRow>(traceId === undefined ? list : listOfTrace, values);
      return rows.map(toAuditEvent);
    },
  };
}
