import type { OrganizationId } from '../../domain/id.ts';
import { type AuditRow, auditColumns, auditValues, toAuditEvent } from '../audit-row.ts';
import type { AuditNote, Audits } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

/** Writes a note. To be called in the transaction of the change that it describes, after the change. */
export type AuditWriter = (organizationId: OrganizationId, note: AuditNote, at: number) => void;

export function auditWriter(database: Database): AuditWriter {
  const insert = database.prepare(
    `INSERT INTO audit_event (organization_id, at, ${auditColumns.join(', ')})
     VALUES (?, ?, ${auditColumns.map(() => '?').join(', ')})`,
  );
  return (organizationId, note, at) => {
    insert.run(organizationId, at, ...auditValues(note));
  };
}

function listText(index: string, filter: string): string {
  return `SELECT at, audit_event.id, actor_kind, actor_user_id, email AS actor_email, action, subject, detail, trace_id
    FROM audit_event ${index} LEFT JOIN user ON user.id = actor_user_id
    WHERE organization_id = ? ${filter} AND (at, audit_event.id) < (?, ?)
    ORDER BY at DESC, audit_event.id DESC LIMIT ?`;
}

export const auditQueries = {
  all: listText('', ''),
  // Without a hint SQLite uses the primary key, and scans the whole log for a trace id that does not occur.
  ofTrace: listText('INDEXED BY audit_event_trace', 'AND trace_id = ?'),
};

/** After every event. */
const newest = { at: Number.MAX_SAFE_INTEGER, id: '' };

export function sqliteAudits(database: Database, commits: CommitQueue): Audits {
  const write = auditWriter(database);
  const all = database.prepare<[string, number, string, number], AuditRow>(auditQueries.all);
  const ofTrace = database.prepare<[string, string, number, string, number], AuditRow>(auditQueries.ofTrace);

  return {
    writeAudit: (organizationId, note) =>
      commits.durable((clock) => write(organizationId, note, clock.now())),

    async listAudit(organizationId, { before = newest, traceId, limit }) {
      const rows =
        traceId === undefined
          ? all.all(organizationId, before.at, before.id, limit)
          : ofTrace.all(organizationId, traceId, before.at, before.id, limit);
      return rows.map(toAuditEvent);
    },
  };
}
