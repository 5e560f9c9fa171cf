import { threadColumns } from '../sql/thread-reads.ts';
import {
  foundValues,
  isFound,
  matchTexts,
  type QueryDialect,
  scopedTerms,
  takeInRotation,
  threadSummaries,
} from '../sql/thread-search.ts';
import type { Transactions } from '../sql/work.ts';
import type { IndexedThread, ThreadSearch, UnindexedThread } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { ReadThreads } from './store-thread.ts';
import { type ThreadRow, threadColumnCount, toThread } from './walks.ts';

/** The numbers of one millisecond. The highest are safe integers until the year 2109. */
const numbersPerMs = 2048;
/** After each write an index of terms is merged in at most this many steps, each in a commit of its own. */
const mergeStepsMax = 4;
/** A merge step of this size took at most 10 ms of the event loop while 5,000 passages were removed. */
export const pagesPerMergeStep = 4;

export const queryDialect: QueryDialect = {
  and: ' AND ',
  or: ' OR ',
  term: (term) => `"${term}"`,
  prefix: (prefix) => `"${prefix}" *`,
};

// CROSS JOIN, so that the index is read in its order, and no further than the page needs.
const searchText = `SELECT ${threadColumns}, thread_term.rowid FROM thread_term
  CROSS JOIN thread_search ON thread_search.number = thread_term.rowid
  CROSS JOIN thread ON thread.organization_id = thread_search.organization_id AND thread.id = thread_search.thread_id
  WHERE thread_term MATCH :match AND thread_term.rowid < :before AND thread_term.rowid >= :since AND ${isFound}
  ORDER BY thread_term.rowid DESC LIMIT :limit`;

/** A search runs in a thread: one that finds little may read the entries of all threads of the person. */
export function sqliteThreadSearch(
  database: Database,
  commits: CommitQueue,
  transactions: Transactions,
  reads: ReadThreads,
): ThreadSearch {
  const listDue = database.prepare<[object], UnindexedThread>(
    `SELECT organization_id AS organizationId, thread_id AS threadId, stamp FROM search_due
     WHERE organization_id > @after ORDER BY organization_id, thread_id LIMIT @limit + 0`,
  );
  const removeDue = database.prepare(
    `DELETE FROM search_due WHERE organization_id = @organizationId AND thread_id = @threadId AND stamp = @stamp`,
  );
  const find = database.prepare<[object], { number: number; version: number }>(
    `SELECT number, version FROM thread_search WHERE organization_id = @organizationId AND thread_id = @threadId`,
  );
  const lastNumber = database
    .prepare<[object], number | null>(
      'SELECT max(number) FROM thread_search WHERE number >= @first AND number < @end',
    )
    .pluck();
  // A trigger removes its terms.
  const remove = database.prepare('DELETE FROM thread_search WHERE number = @number');
  const insert = database.prepare(
    `INSERT INTO thread_search (number, organization_id, thread_id, version, state, line)
     SELECT @number, organization_id, id, @version, @state, @line FROM thread
     WHERE organization_id = @organizationId AND id = @threadId`,
  );
  const insertTerms = database.prepare('INSERT INTO thread_term (rowid, terms) VALUES (@number, @terms)');
  const mergeTerms = termMerge(database, 'thread_term', (step) => commits.unsynced(step));

  /** The next free number of the millisecond, or of a later one if there are none. */
  function numberAt(activityAt: number): number {
    for (let first = activityAt * numbersPerMs; ; first += numbersPerMs) {
      const last = lastNumber.get({ first, end: first + numbersPerMs }) ?? first - 1;
      if (last + 1 < first + numbersPerMs) return last + 1;
    }
  }

  function replace(due: UnindexedThread, entry: IndexedThread | undefined): void {
    const known = find.get(due);
    if (known !== undefined && entry !== undefined && known.version > entry.version) return;
    if (known !== undefined) remove.run(known);
    if (entry === undefined) return;
    const { thread, version, state, line } = entry;
    const activityAt = thread.updatedAt ?? thread.createdAt;
    const isInPlace = known !== undefined && Math.floor(known.number / numbersPerMs) === activityAt;
    const number = isInPlace ? known.number : numberAt(activityAt);
    const { changes } = insert.run({ ...due, number, version, state, line });
    if (changes === 1) insertTerms.run({ number, terms: scopedTerms(entry) });
  }

  const summarizeThreads = threadSummaries(transactions);
  return {
    summarizeThreads(...asked) {
      // Anyone who sees a list may search it next.
      reads.start();
      return summarizeThreads(...asked);
    },

    takeUnindexed: takeInRotation(async (after, limit) => listDue.all({ after, limit })),

    async indexThreads(threads) {
      await commits.unsynced(() => {
        for (const { due, entry } of threads) {
          replace(due, entry);
          removeDue.run(due);
        }
      });
      await mergeTerms();
    },

    async searchThreads(organizationId, query, limit, after) {
      const found = await reads.all<ThreadRow>(searchText, {
        ...foundValues(organizationId, query),
        match: matchTexts(organizationId, query, queryDialect).join(queryDialect.or),
        before: after === undefined ? Number.MAX_SAFE_INTEGER : Number(after),
        since: (query.since ?? 0) * numbersPerMs,
        limit,
      });
      return found.map((row) => ({ thread: toThread(row), place: String(row[threadColumnCount]) }));
    },
  };
}

/** Merges an index of terms a little. It does not merge by itself (001-initial.sql): that would take too long in one commit. */
export function termMerge(
  database: Database,
  table: 'passage_term' | 'thread_term',
  commit: (step: () => boolean) => Promise<boolean>,
): () => Promise<void> {
  const mergeStep = prepareMergeStep(database, table);
  return async () => {
    for (let step = 0; step < mergeStepsMax; step += 1)
      if (!(await commit(() => mergeStep(pagesPerMergeStep)))) return;
  };
}

/** One step of merging an index of terms. Returns whether it changed anything. */
export function prepareMergeStep(database: Database, table: 'passage_term' | 'thread_term') {
  const merge = database.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', @pages)`);
  const totalChanges = database.prepare<[], number>('SELECT total_changes()').pluck();
  return (pages: number): boolean => {
    const before = totalChanges.get()!;
    merge.run({ pages });
    // The command itself counts as one change.
    return totalChanges.get()! - before > 1;
  };
}
