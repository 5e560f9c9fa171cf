import type { IndexedThread, ThreadSearch, UnindexedThread } from '../port/store.ts';
import { sql, sqliteStatement } from '../sql/sql.ts';
import { isThread, threadColumns } from '../sql/thread-reads.ts';
import {
  foundValues,
  isFound,
  matchTexts,
  type QueryDialect,
  scopedTerms,
  takeInRotation,
  threadSummaries,
} from '../sql/thread-search.ts';
import { count, row, rows, run, type Transactions, type Work } from '../sql/work.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { ReadThreads } from './store-thread.ts';
import { type ThreadRow, threadColumnCount, toThread } from './walks.ts';

/** The numbers of one millisecond. The highest are safe integers until the year 2109. */
const numbersPerMs = 2048;
/** After each write an index of terms is merged in at most this many steps, each in a commit of its own. */
const mergeStepsMax = 4;
/** A merge step of this size took at most 3 ms of the event loop while 2,800 passages were added. */
export const pagesPerMergeStep = 2;

export const queryDialect: QueryDialect = {
  and: ' AND ',
  or: ' OR ',
  term: (term) => `"${term}"`,
  prefix: (prefix) => `"${prefix}" *`,
};

// CROSS JOIN, so that the index is read in its order, and no further than the page needs.
const search = sqliteStatement('search-threads')`SELECT ${threadColumns}, thread_term.rowid FROM thread_term
  CROSS JOIN thread_search ON thread_search.number = thread_term.rowid
  CROSS JOIN thread ON thread.organization_id = thread_search.organization_id AND thread.id = thread_search.thread_id
  WHERE thread_term MATCH :match AND thread_term.rowid < :before AND thread_term.rowid >= :since AND ${isFound}
  ORDER BY thread_term.rowid DESC LIMIT :limit`;

const listDue = sqliteStatement('list-unindexed')`
  SELECT organization_id AS "organizationId", thread_id AS "threadId", stamp FROM search_due
  WHERE organization_id > :after ORDER BY organization_id, thread_id LIMIT :limit + 0`;
const ofThread = sql`organization_id = :organizationId AND thread_id = :threadId`;
const removeDue = sqliteStatement(
  'remove-indexed',
)`DELETE FROM search_due WHERE ${ofThread} AND stamp = :stamp`;
const find = sqliteStatement('find-in-index')`SELECT number, version FROM thread_search WHERE ${ofThread}`;
const findLast = sqliteStatement('find-last-number')`
  SELECT max(number) AS last FROM thread_search WHERE number >= :first AND number < :end`;
// A trigger removes its terms.
const remove = sqliteStatement('remove-from-index')`DELETE FROM thread_search WHERE number = :number`;
const insert = sqliteStatement('index-thread')`
  INSERT INTO thread_search (number, organization_id, thread_id, version, state, line)
  SELECT :number, organization_id, id, :version, :state, :line FROM thread WHERE ${isThread} RETURNING number`;
const insertTerms = sqliteStatement(
  'index-terms',
)`INSERT INTO thread_term (rowid, terms) VALUES (:number, :terms)`;

/** The next free number of the millisecond, or of a later one if there are none. */
function* numberAt(activityAt: number): Work<number> {
  for (let first = activityAt * numbersPerMs; ; first += numbersPerMs) {
    const found = yield* row<{ last: number | null }>(findLast, { first, end: first + numbersPerMs });
    const next = (found!.last ?? first - 1) + 1;
    if (next < first + numbersPerMs) return next;
  }
}

function* replace(due: UnindexedThread, entry: IndexedThread | undefined): Work<void> {
  const known = yield* row<{ number: number; version: number }>(find, { ...due });
  if (known !== undefined && entry !== undefined && known.version > entry.version) return;
  if (known !== undefined) yield* run(remove, known);
  if (entry === undefined) return;
  const { thread, version, state, line } = entry;
  const activityAt = thread.updatedAt ?? thread.createdAt;
  const isInPlace = known !== undefined && Math.floor(known.number / numbersPerMs) === activityAt;
  const number = isInPlace ? known.number : yield* numberAt(activityAt);
  const inserted = yield* count(insert, { ...due, number, version, state, line });
  if (inserted === 1) yield* run(insertTerms, { number, terms: scopedTerms(entry) });
}

/** A search runs in a thread: one that finds little may read the entries of all threads of the person. */
export function sqliteThreadSearch(
  database: Database,
  commits: CommitQueue,
  transactions: Transactions,
  reads: ReadThreads,
): ThreadSearch {
  const { read, writeUnsynced } = transactions;
  const mergeTerms = termMerge(database, 'thread_term', (step) => commits.unsynced(step));
  const summarizeThreads = threadSummaries(transactions);
  return {
    summarizeThreads(...asked) {
      // Anyone who sees a list may search it next.
      reads.start();
      return summarizeThreads(...asked);
    },

    takeUnindexed: takeInRotation((after, limit) => read(() => rows(listDue, { after, limit }))),

    async indexThreads(threads) {
      await writeUnsynced(function* () {
        for (const { due, entry } of threads) {
          yield* replace(due, entry);
          yield* run(removeDue, { ...due });
        }
      });
      await mergeTerms();
    },

    async searchThreads(organizationId, query, limit, after) {
      const found = await reads.all<ThreadRow>(search.sql, {
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

const mergeInto = {
  passage_term: sqliteStatement('merge-passage-terms')`
    INSERT INTO passage_term (passage_term, rank) VALUES ('merge', :pages)`,
  thread_term: sqliteStatement('merge-thread-terms')`
    INSERT INTO thread_term (thread_term, rank) VALUES ('merge', :pages)`,
};
const countChanges = sqliteStatement('count-changes')`SELECT total_changes()`;

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
  const merge = database.prepare<[object]>(mergeInto[table].sql);
  const totalChanges = database.prepare<[], number>(countChanges.sql).pluck();
  return (pages: number): boolean => {
    const before = totalChanges.get()!;
    merge.run({ pages });
    // The command itself counts as one change.
    return totalChanges.get()! - before > 1;
  };
}
