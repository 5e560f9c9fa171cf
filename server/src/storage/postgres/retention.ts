import type { OrganizationId } from '../../domain/id.ts';
import { type RetentionKind, retentionKinds } from '../../domain/retention.ts';
import { batchOrganizations, batchRows, countMax, retentionRules } from '../retention-rules.ts';
import type { Retention, RetentionPlace } from '../store.ts';
import type { Database, Statement } from './database.ts';
import { now } from './store-time.ts';
import { removeDeletedThreads, type ThreadName } from './thread-removal.ts';

interface BatchRow {
  removed: number;
  organizations: number;
  last: OrganizationId | null;
}

/** How long rows are kept is $3, and the place $4. */
function isDue(kind: RetentionKind): string {
  const { column, unitMs } = retentionRules[kind];
  return `${column} < (SELECT (${now} - $3::bigint) / ${unitMs})`;
}

const pageAfter = (place: string) => `page AS MATERIALIZED (
  SELECT id FROM organization WHERE id > ${place} ORDER BY id LIMIT ${batchOrganizations})`;
const page = pageAfter('$4');
const pageColumns = '(SELECT count(*) FROM page) AS organizations, (SELECT max(id) FROM page) AS last';

/** What is due, and that no other node is removing now. */
function dueText(kind: RetentionKind, columns: string): string {
  const { table, column } = retentionRules[kind];
  const rows = (owner: string) => `SELECT ${columns} FROM ${table} WHERE ${owner}${isDue(kind)}
    ORDER BY ${column} LIMIT ${batchRows} FOR UPDATE SKIP LOCKED`;
  if (kind === 'sessions') return rows('');
  return `SELECT part.* FROM page CROSS JOIN LATERAL (${rows('organization_id = page.id AND ')}) AS part
    LIMIT ${batchRows}`;
}

// By their places, which the same statement has looked up and locked: no plan can turn into a scan of the table.
function removeText(kind: RetentionKind): string {
  const { table } = retentionRules[kind];
  return `WITH ${page}, gone AS (
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(${dueText(kind, 'ctid')})) RETURNING 1
    ) SELECT count(*) AS removed, ${pageColumns} FROM gone`;
}

function countText(kind: RetentionKind): string {
  const { table } = retentionRules[kind];
  const rows = (owner: string) => `SELECT FROM ${table} WHERE ${owner}${isDue(kind)} LIMIT ${countMax}`;
  const due =
    kind === 'sessions'
      ? rows('')
      : `SELECT FROM organization CROSS JOIN LATERAL (${rows('organization_id = organization.id AND ')}) AS part
         LIMIT ${countMax}`;
  return `SELECT count(*) AS due FROM (${due}) AS counted`;
}

function statements(verb: string, textOf: (kind: RetentionKind) => string): Record<RetentionKind, Statement> {
  const named = retentionKinds.map((kind) => [kind, { name: `${verb}-expired-${kind}`, text: textOf(kind) }]);
  return Object.fromEntries(named);
}

const remove = statements('remove', removeText);
const count = statements('count', countText);
const findThreads = {
  name: 'find-expired-threads',
  text: `WITH ${page} ${dueText('deleted_threads', 'organization_id, id')}`,
};
const readPage = { name: 'read-retention-page', text: `WITH ${pageAfter('$1')} SELECT ${pageColumns}` };

export function postgresRetention(database: Database): Retention {
  const { run, time } = database;

  /** Its threads and messages are more than one statement can remove: a statement does not see what it has deleted. */
  function removeThreads(values: unknown[], place: RetentionPlace): Promise<BatchRow & { more: boolean }> {
    return database.transaction(async (runHere) => {
      const [looked] = await runHere<BatchRow>(readPage, [place]);
      const threads = await runHere<ThreadName>(findThreads, values);
      if (threads.length === 0) return { ...looked!, removed: 0, more: false };
      const gone = await removeDeletedThreads(runHere, threads, batchRows);
      const more = gone.threads < threads.length || threads.length === batchRows;
      return { ...looked!, removed: gone.threads, more };
    });
  }

  async function removeRows(kind: RetentionKind, values: unknown[]): Promise<BatchRow & { more: boolean }> {
    const [row] = await run<BatchRow>(remove[kind], values);
    return { ...row!, more: row!.removed === batchRows };
  }

  return {
    async removeExpired(kind, keepMs, place) {
      const values = [...time.parameters(), keepMs, place];
      const { removed, more, organizations, last } = await (kind === 'deleted_threads'
        ? removeThreads(values, place)
        : removeRows(kind, values));
      if (more) return { removed, next: place };
      const done = kind === 'sessions' || organizations < batchOrganizations;
      return { removed, next: done ? null : last };
    },

    async countExpired(kind, keepMs) {
      const [row] = await run<{ due: number }>(count[kind], [...time.parameters(), keepMs]);
      return row!.due;
    },
  };
}
