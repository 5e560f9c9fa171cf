import type { OrganizationId } from '../../domain/id.ts';
import { type AuditRow, auditColumns, auditValues, toAuditEvent } from '../audit-row.ts';
import type { AuditNote, Audits } from '../store.ts';
import type { Database, Run } from './database.ts';
import { now, type StoreTime } from './store-time.ts';

export { auditValues };

/**
 * Writes a note down for every row of `deed`, which is a query of the same statement: one row per organization, and none
 * where nothing was done. `organization` and `at` are expressions over that row; from parameter `place` on follow
 * `auditValues(note)`.
 */
export function auditText(deed: string, organization: string, at: string, place: number): string {
  const values = auditColumns.map((_, index) => `$${place + index}`);
  return `INSERT INTO audit_event (organization_id, at, ${auditColumns.join(', ')})
    SELECT ${organization}, ${at}, ${values.join(', ')} FROM ${deed}`;
}

const write = {
  name: 'write-audit',
  text: `${auditText(`(SELECT ${now} AS at) AS moment`, '$3', 'at', 4)} RETURNING at`,
};

/** For what takes several statements: one more of its transaction, once the deed is done. */
export async function writeNote(
  run: Run,
  time: StoreTime,
  organizationId: OrganizationId,
  note: AuditNote,
): Promise<void> {
  const [row] = await run<{ at: number }>(write, [
    ...time.parameters(),
    organizationId,
    ...auditValues(note),
  ]);
  time.see(row!.at);
}

const writeMany = {
  name: 'write-audits',
  text: auditText(`unnest($3::text[]) AS organization (id), (SELECT ${now} AS at) AS moment`, 'id', 'at', 4),
};

/** The same note in several organizations, each once. */
export async function writeNotes(
  run: Run,
  time: StoreTime,
  organizations: readonly { readonly organizationId: OrganizationId }[],
  note: AuditNote,
): Promise<void> {
  const ids = [...new Set(organizations.map(({ organizationId }) => organizationId))];
  if (ids.length > 0) await run(writeMany, [...time.parameters(), ids, ...auditValues(note)]);
}

function listText(filter: string): string {
  return `SELECT at, audit_event.id, actor_kind, actor_user_id, email AS actor_email, action, subject, detail, trace_id
    FROM audit_event LEFT JOIN "user" ON "user".id = actor_user_id
    WHERE organization_id = $1 AND (at, audit_event.id) < ($2, $3) ${filter}
    ORDER BY at DESC, audit_event.id DESC LIMIT $4`;
}

const listAll = { name: 'list-audit', text: listText('') };
const listTrace = { name: 'list-audit-of-trace', text: listText('AND trace_id = $5') };

/** Above every time and every id. */
const newest = { at: Number.MAX_SAFE_INTEGER, id: '' };

export function postgresAudits({ run, time }: Database): Audits {
  return {
    writeAudit: (organizationId, note) => writeNote(run, time, organizationId, note),

    async listAudit(organizationId, { before = newest, traceId, limit }) {
      const values = [organizationId, before.at, before.id, limit];
      const rows =
        traceId === undefined
          ? await run<AuditRow>(listAll, values)
          : await run<AuditRow>(listTrace, [...values, traceId]);
      return rows.map(toAuditEvent);
    },
  };
}
