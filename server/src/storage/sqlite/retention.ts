import type { Statement } from 'better-sqlite3';
import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import { type RetentionKind, retentionKinds } from '../../domain/retention.ts';
import { batchOrganizations, batchRows, countMax, retentionRules } from '../retention-rules.ts';
import type { Retention } from '../store.ts';

import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { batchMs, deleteText, prepareRemoveThread } from './thread-removal.ts';

/** Removes at most `limit` expired rows of one organization. */
type Remove = (
  organizationId: OrganizationId,
  before: number,
  limit: number,
  isLate: () => boolean,
) => Removed;

interface Removed {
  readonly removed: number;
  /** Whether more rows may have expired. */
  readonly more: boolean;
}

/** Greater than every organization id. */
const end = '~';

function isDue(kind: RetentionKind, owner = 'organization_id = ?'): string {
  const { column } = retentionRules[kind];
  if (kind === 'sessions') return `${column} < ?`;
  return `${owner} AND ${kind === 'deleted_threads' ? 'deleted = 1 AND ' : ''}${column} < ?`;
}

function removeText(kind: RetentionKind): string {
  const { table, column } = retentionRules[kind];
  const due = `${isDue(kind)} ORDER BY ${column}`;
  return kind === 'deleted_threads'
    ? `SELECT id FROM thread WHERE ${due} LIMIT ? + 0`
    : deleteText(table, due);
}

/** The organizations with expired rows. */
function ownersText(kind: RetentionKind): string {
  const due = isDue(kind, 'organization_id = organization.id');
  return `SELECT id FROM organization WHERE id > ? AND id <= ? AND EXISTS (
    SELECT 1 FROM "${retentionRules[kind].table}" WHERE ${due}) ORDER BY id`;
}

function textsOf(
  kinds: readonly RetentionKind[],
  textOf: (kind: RetentionKind) => string,
): Record<RetentionKind, string> {
  return Object.fromEntries(kinds.map((kind) => [kind, textOf(kind)])) as never;
}

const ofOrganizations = retentionKinds.filter((kind) => kind !== 'sessions');

/** Exported for a test of their query plans. */
export const retentionTexts = {
  remove: textsOf(retentionKinds, removeText),
  owners: textsOf(ofOrganizations, ownersText),
};

export function sqliteRetention(database: Database, commits: CommitQueue): Retention {
  const pageEndAfter = database
    .prepare<[string], OrganizationId>(
      `SELECT id FROM organization WHERE id > ? ORDER BY id LIMIT 1 OFFSET ${batchOrganizations - 1}`,
    )
    .pluck();
  const prepareAll = <Row>(texts: Record<RetentionKind, string>) => {
    const prepared = Object.entries(texts).map(([kind, text]) => {
      const statement = database.prepare<unknown[], Row>(text);
      return [kind, statement.reader ? statement.pluck() : statement];
    });
    return Object.fromEntries(prepared) as Record<RetentionKind, Statement<unknown[], Row>>;
  };
  const statements = prepareAll<ThreadId>(retentionTexts.remove);
  const owners = prepareAll<OrganizationId>(retentionTexts.owners);
  const removeThread = prepareRemoveThread(database);

  const removeThreads: Remove = (organizationId, before, limit, isLate) => {
    const threads = statements.deleted_threads.all(organizationId, before, limit);
    let [removed, rows] = [0, 0];
    for (const id of threads) {
      if (rows >= limit || isLate()) break;
      const gone = removeThread(organizationId, id, limit - rows, isLate);
      rows += gone.messages + 1;
      if (gone.removed) removed += 1;
    }
    return { removed, more: removed < threads.length || threads.length === limit };
  };

  function removeRows(kind: RetentionKind): Remove {
    return (organizationId, before, limit) => {
      const removed = statements[kind].run(organizationId, before, limit).changes;
      return { removed, more: removed === limit };
    };
  }

  const remove = Object.fromEntries(
    retentionKinds.map((kind) => [kind, kind === 'deleted_threads' ? removeThreads : removeRows(kind)]),
  ) as Record<RetentionKind, Remove>;

  return {
    // Without a sync: what a power cut takes back is removed again. Nothing is locked if nothing has expired.
    async removeExpired(kind, keepMs, place) {
      const before = dueBefore(kind, commits.now(), keepMs);
      if (kind === 'sessions') {
        const removed = await commits.unsynced(() => statements.sessions.run(before, batchRows).changes);
        return { removed, next: removed === batchRows ? place : null };
      }
      const pageEnd = pageEndAfter.get(place) ?? null;
      const due = owners[kind].all(place, pageEnd ?? end, before);
      if (due.length === 0) return { removed: 0, next: pageEnd };
      return commits.unsynced(() => {
        const began = performance.now();
        const isLate = () => performance.now() - began > batchMs;
        let [removed, last] = [0, place];
        for (const organizationId of due) {
          const batch = remove[kind](organizationId, before, batchRows - removed, isLate);
          removed += batch.removed;
          if (batch.more) return { removed, next: last };
          last = organizationId;
          if (removed === batchRows || isLate()) return { removed, next: last };
        }
        return { removed, next: pageEnd };
      });
    },

    async countExpired(kind, keepMs) {
      const due = isDue(kind, 'organization_id = organization.id');
      const { table } = retentionRules[kind];
      const from = kind === 'sessions' ? 'session' : `organization CROSS JOIN "${table}"`;
      return database
        .prepare<[number], number>(
          `SELECT count(*) FROM (SELECT 1 FROM ${from} WHERE ${due} LIMIT ${countMax})`,
        )
        .pluck()
        .get(dueBefore(kind, commits.now(), keepMs))!;
    },
  };
}

/** Rows whose column is below this value have expired. */
function dueBefore(kind: RetentionKind, now: number, keepMs: number): number {
  return Math.floor((now - keepMs) / retentionRules[kind].unitMs);
}
