import { setTimeout as pause } from 'node:timers/promises';
import { archiveTable } from '../port/archive.ts';
import type { Purges } from '../port/store.ts';
import { purges } from '../sql/purge.ts';
import type { Removal } from '../sql/retention.ts';
import { identifier, join, sql, sqliteStatement } from '../sql/sql.ts';
import type { Transactions } from '../sql/work.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { pagesPerMergeStep, prepareMergeStep } from './thread-search.ts';

const emptyEveryMs = 50;

export const sqliteRemoval: Removal = {
  statement: sqliteStatement,
  // `+ 0` as in walks.ts: with a bare parameter the statement would be compiled again at every call.
  deleteFirst(table, condition, { hint = sql`` } = {}) {
    const keys = join(archiveTable(table).key.map(identifier), sql`, `);
    return sql`DELETE FROM ${identifier(table)} WHERE (${keys}) IN (
      SELECT ${keys} FROM ${identifier(table)} ${hint} WHERE ${condition} LIMIT :limit + 0)`;
  },
  // Long rows take time to overwrite. One turn of the event loop stays below 20 ms.
  rowsAtOnce: 20,
  transactionMs: 10,
};

export function sqlitePurges(database: Database, commits: CommitQueue, transactions: Transactions): Purges {
  return {
    ...purges(transactions, sqliteRemoval),

    async finishPurge(waitMs) {
      // An index keeps removed terms in its segments until they are merged, which is done in small steps.
      for (const table of ['passage_term', 'thread_term'] as const) {
        const mergeStep = prepareMergeStep(database, table);
        let pages = -pagesPerMergeStep;
        while (await commits.durable(() => mergeStep(pages))) pages = pagesPerMergeStep;
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

/** Does not wait for readers (see `WriteLock`), because others could not write meanwhile. */
function emptyJournal(database: Database): boolean {
  const [result] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  return result!.busy === 0;
}
