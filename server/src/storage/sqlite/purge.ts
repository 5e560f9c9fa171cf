import { setTimeout as pause } from 'node:timers/promises';
import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { TableName } from '../archive.ts';
import { purgeOrder } from '../removal-rules.ts';
import { findUserId } from '../sql/members.ts';
import { isRunning } from '../sql/messages.ts';
import { add, anonymizeAudit, type Counts, countPurge, purgeOfPeople } from '../sql/purge.ts';
import { sql } from '../sql/sql.ts';
import type { Purges } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { pagesPerMergeStep, prepareMergeStep } from './document-writer.ts';
import { batchMs, deleteText, prepareRemoveThread } from './retention.ts';
import { workRunner } from './transactions.ts';

const batchRows = 500;
/** Long rows take time to overwrite, so the clock is checked after this many. */
const rowsAtOnce = 20;

/** How often a purge tries to empty the journal. */
const emptyEveryMs = 50;

/** The users that a removed row refers to. */
type Removed = { user_id: UserId | null; created_by?: UserId | null };

const ownersOf: Partial<Record<TableName, string>> = {
  api_key: 'user_id, created_by',
  member: 'user_id',
  thread: 'user_id',
};

const people = purgeOfPeople(sql`deleted = 0`);

export function sqlitePurges(database: Database, commits: CommitQueue): Purges {
  const removeThread = prepareRemoveThread(database);
  const runWork = workRunner(database);
  const removal = new Map(
    purgeOrder.map((table) => {
      const owners = ownersOf[table];
      const text = deleteText(table, 'organization_id = @organizationId');
      const statement = database.prepare<[object], Removed>(
        `${text} RETURNING ${owners ?? 'NULL AS user_id'}`,
      );
      return [table, statement];
    }),
  );
  // The index of held replies does not start with the organization, because there are few in the whole store.
  const removeRunning = database.prepare(
    `DELETE FROM message WHERE organization_id = @organizationId AND (thread_id, id) IN (
       SELECT thread_id, id FROM message INDEXED BY message_waiting
       WHERE organization_id = @organizationId AND held = 0 AND ${isRunning} LIMIT 100)`,
  );
  const removeHeld = database.prepare(
    `DELETE FROM message WHERE (organization_id, thread_id, id) IN (
       SELECT organization_id, thread_id, id FROM message INDEXED BY message_held
       WHERE held = 1 AND ${isRunning} AND organization_id = @organizationId LIMIT 100)`,
  );
  const passagesOf = database
    .prepare<[object], number>(
      'SELECT number FROM passage WHERE organization_id = @organizationId LIMIT @limit + 0',
    )
    .pluck();
  const removeTerms = database.prepare('DELETE FROM passage_term WHERE rowid = @number');
  const closeApi = database.prepare(
    'UPDATE organization SET api_enabled = 0 WHERE id = @organizationId AND api_enabled = 1',
  );
  const removeOrganization = database.prepare('DELETE FROM organization WHERE id = @organizationId');

  /** Overwrites removed rows in the file as far as SQLite can: see docs/operating.md. */
  function step<T>(work: (isLate: () => boolean) => T): Promise<T> {
    database.pragma('secure_delete = ON');
    return commits.durable(() => {
      const began = performance.now();
      return work(() => performance.now() - began > batchMs);
    });
  }

  function removeSome(
    organizationId: OrganizationId,
    table: TableName,
    isLate: () => boolean,
    removed: Counts,
  ): void {
    let rows = 0;
    while (rows < batchRows && !isLate()) {
      if (table === 'passage')
        for (const number of passagesOf.all({ organizationId, limit: rowsAtOnce }))
          removeTerms.run({ number });
      const gone = removal.get(table)!.all({ organizationId, limit: rowsAtOnce });
      rows += gone.length;
      const known = new Set(gone.flatMap(({ user_id, created_by }) => [user_id, created_by ?? null]));
      for (const userId of known)
        if (userId !== null) runWork(people.forget(organizationId, userId, removed));
      if (gone.length < rowsAtOnce) break;
    }
    add(removed, table, rows);
  }

  return {
    findUser: async (email) => runWork(findUserId(email)),

    countPurge: async (organizationId, person) => runWork(countPurge(people, organizationId, person)),

    purgeOrganization: (organizationId) =>
      step((isLate) => {
        const removed: Counts = {};
        closeApi.run({ organizationId });
        for (const table of purgeOrder) {
          if (table === 'message') {
            const running =
              removeRunning.run({ organizationId }).changes + removeHeld.run({ organizationId }).changes;
            add(removed, table, running);
          }
          removeSome(organizationId, table, isLate, removed);
          if (isLate() || Object.keys(removed).length > 0) return { removed, done: false };
        }
        add(removed, 'organization', removeOrganization.run({ organizationId }).changes);
        return { removed, done: true };
      }),

    purgePerson: (organizationId, userId) =>
      step((isLate) => {
        const removed: Counts = {};
        const theirs = database
          .prepare<[object], ThreadId>(
            'SELECT id FROM thread WHERE organization_id = @organizationId AND deleted = 1 AND user_id = @userId LIMIT 100',
          )
          .pluck()
          .all({ organizationId, userId });
        for (const threadId of theirs) {
          if (isLate()) break;
          const gone = removeThread(organizationId, threadId, batchRows, isLate);
          add(removed, 'message', gone.messages);
          add(removed, 'idempotency_key', gone.idempotencyKeys);
          add(removed, 'thread', Number(gone.removed));
        }
        if (theirs.length > 0) return { removed, done: false };
        runWork(people.removeTraces(organizationId, userId, removed));
        return { removed, done: true };
      }),

    anonymizeAudit: (organizationId, person, after) =>
      step(() => runWork(anonymizeAudit(organizationId, person, after))),

    async finishPurge(waitMs) {
      // An index keeps removed terms in its segments until they are merged, which is done in small steps.
      for (const table of ['passage_term', 'thread_term'] as const) {
        const mergeStep = prepareMergeStep(database, table);
        let pages = -pagesPerMergeStep;
        while (await step(() => mergeStep(pages))) pages = pagesPerMergeStep;
      }
      // Also busy while a thread or another process runs a checkpoint.
      for (let waitedMs = 0; !emptyJournal(database); waitedMs += emptyEveryMs) {
        if (waitedMs >= waitMs) return false;
        await pause(emptyEveryMs);
      }
      return true;
    },
  };
}

/** Does not wait for readers, because others could not write meanwhile. */
function emptyJournal(database: Database): boolean {
  const waitMs = database.pragma('busy_timeout', { simple: true });
  database.pragma('busy_timeout = 0');
  try {
    const [result] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
    return result!.busy === 0;
  } finally {
    database.pragma(`busy_timeout = ${waitMs}`);
  }
}
