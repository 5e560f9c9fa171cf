import type { Thread } from '../../domain/thread.ts';
import type { IndexedThread, ThreadSearch, UnindexedThread } from '../port/store.ts';
import { isForeignKeyViolation } from '../sql/purge.ts';
import { postgresStatement, type Sql, sql } from '../sql/sql.ts';
import { pickThread, threadColumns } from '../sql/thread-reads.ts';
import {
  foundValues,
  isFound,
  matchTexts,
  type QueryDialect,
  scopedTerms,
  takeInRotation,
  threadSummaries,
} from '../sql/thread-search.ts';
import type { Database } from './database.ts';

/** Longer than indexing a batch takes. After a crash, another node takes the batch once this time has passed. */
const takenMs = 30_000;
/** A new range is opened when the newest one has this many entries. */
export const rangeSize = 2048;

export const queryDialect: QueryDialect = {
  and: ' & ',
  or: ' | ',
  term: (term) => `'${term}'`,
  prefix: (prefix) => `'${prefix}':*`,
};
/** Terms start with the number of their range. Statements put it in the place of the `#`, which no word contains. */
const rangeStart = '#·';
const rangeDialect: QueryDialect = {
  ...queryDialect,
  term: (term) => queryDialect.term(rangeStart + term),
  prefix: (prefix) => queryDialect.prefix(rangeStart + prefix),
};

// Materialized, since a plan may repeat a subquery, which would then lock and take more rows than its limit.
const take = postgresStatement('take-unindexed')`WITH due AS MATERIALIZED (
    SELECT organization_id, thread_id FROM search_due WHERE taken_until < :now AND organization_id > :after
    ORDER BY organization_id, activity_at, thread_id LIMIT :limit FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE search_due SET taken_until = :now + ${takenMs} FROM due
    WHERE search_due.organization_id = due.organization_id AND search_due.thread_id = due.thread_id
    RETURNING search_due.organization_id, search_due.thread_id, stamp
  )
  SELECT organization_id AS "organizationId", thread_id AS "threadId", stamp FROM taken
  ORDER BY organization_id, thread_id`;
/** The rows of `:threads`: the ids of a thread, and `columns`. */
const threads = (columns: Sql) =>
  sql`json_to_recordset(:threads) AS new ("organizationId" text, "threadId" text, ${columns})`;
/** One node at a time adds entries of an organization, and sees the ranges and entries that the others have added. */
const lockRanges = postgresStatement('lock-search-ranges')`
  SELECT pg_advisory_xact_lock(hashtextextended('skein search ' || id, 0))
  FROM (SELECT DISTINCT new."organizationId" AS id FROM ${threads(sql`version bigint`)} ORDER BY id) AS organization`;
/** Opens a range above all entries if the newest one is full, or if there is none. */
const openRanges = postgresStatement('open-search-ranges')`
  INSERT INTO search_range (organization_id, first_at, number)
  SELECT new."organizationId", CASE WHEN number IS NULL THEN 0 ELSE min(new."activityAt") END, coalesce(number + 1, 0)
  FROM ${threads(sql`"activityAt" bigint`)}
  LEFT JOIN LATERAL (
    SELECT first_at, number FROM search_range WHERE search_range.organization_id = new."organizationId"
    ORDER BY first_at DESC LIMIT 1
  ) AS newest ON true
  CROSS JOIN LATERAL (
    SELECT count(*) AS entries, max(activity_at) AS last_at FROM (
      SELECT activity_at FROM thread_search
      WHERE thread_search.organization_id = new."organizationId" AND activity_at >= newest.first_at
      ORDER BY activity_at DESC, thread_id DESC LIMIT (SELECT ${rangeSize})) AS entry
  ) AS held
  WHERE number IS NULL OR entries = ${rangeSize} AND new."activityAt" > last_at
  GROUP BY new."organizationId", number`;
/** The range that contains an activity. */
const rangeAt = (organizationId: Sql, activityAt: Sql) => sql`(
    SELECT number, first_at FROM search_range
    WHERE search_range.organization_id = ${organizationId} AND first_at <= ${activityAt}
    ORDER BY first_at DESC LIMIT 1)`;
const index = postgresStatement('index-threads')`
  INSERT INTO thread_search (organization_id, thread_id, activity_at, version, state, line, terms)
  SELECT thread.organization_id, thread.id, new."activityAt", new.version, new.state, new.line,
    array_to_tsvector(string_to_array(replace(new.terms, '#', range.number::text), ' '))
  FROM ${threads(sql`"activityAt" bigint, version bigint, state text, line text, terms text`)}
  JOIN thread ON thread.organization_id = new."organizationId" AND thread.id = new."threadId"
  CROSS JOIN LATERAL ${rangeAt(sql`thread.organization_id`, sql`new."activityAt"`)} AS range
  ON CONFLICT (organization_id, thread_id) DO UPDATE SET activity_at = excluded.activity_at,
    version = excluded.version, state = excluded.state, line = excluded.line, terms = excluded.terms
  WHERE thread_search.version <= excluded.version`;
const removeEntries = postgresStatement('remove-from-index')`DELETE FROM thread_search
  USING ${threads(sql`stamp bigint`)}
  WHERE thread_search.organization_id = new."organizationId" AND thread_search.thread_id = new."threadId"`;
const removeDue = postgresStatement('remove-indexed')`DELETE FROM search_due
  USING ${threads(sql`stamp bigint`)}
  WHERE search_due.organization_id = new."organizationId" AND search_due.thread_id = new."threadId"
    AND search_due.stamp = new.stamp`;
/** The range of the newest entry up to a time, so that no empty range is searched. */
const rangeBefore = (activityAt: Sql) => sql`(
    SELECT range.* FROM (
      SELECT activity_at FROM thread_search WHERE thread_search.organization_id = :organizationId
        AND activity_at <= ${activityAt} AND activity_at >= :since::bigint
      ORDER BY activity_at DESC, thread_id DESC LIMIT 1
    ) AS newest CROSS JOIN LATERAL ${rangeAt(sql`:organizationId`, sql`newest.activity_at`)} AS range)`;
/**
 * Searches range after range until the page is full: the index of terms does not know the order of the results, and a search
 * reads and sorts all matches of a range. LATERAL keeps the order, because it allows only nested loops. Only the index of
 * terms may choose the entries: the other conditions are hidden from the planner. The terms are a condition of each scope: in
 * a single one, PostgreSQL could not skip entries that only have frequent words.
 */
const search = postgresStatement('search-threads')`WITH RECURSIVE range AS (
    SELECT * FROM ${rangeBefore(sql`:beforeAt::bigint`)} AS newest
    UNION ALL
    SELECT older.* FROM range CROSS JOIN LATERAL ${rangeBefore(sql`range.first_at - 1`)} AS older
  )
  SELECT entry.activity_at || ' ' || entry.thread_id AS place, ${threadColumns} FROM range
  CROSS JOIN LATERAL (
    SELECT thread_id, activity_at FROM thread_search
    WHERE (terms @@ replace(:match, '#', range.number::text)::tsquery
        OR terms @@ replace(:otherMatch, '#', range.number::text)::tsquery)
      AND CASE WHEN organization_id = :organizationId AND activity_at >= :since::bigint
        AND (activity_at, thread_id) < (:beforeAt::bigint, :beforeId::text) THEN true END
    ORDER BY activity_at DESC, thread_id DESC OFFSET 0
  ) AS entry
  CROSS JOIN LATERAL (
    SELECT * FROM thread WHERE thread.organization_id = :organizationId AND thread.id = entry.thread_id
      AND CASE WHEN ${isFound} THEN true END LIMIT 1
  ) AS thread
  LIMIT :limit`;

export function postgresThreadSearch(database: Database): ThreadSearch {
  const { run } = database;
  return {
    summarizeThreads: threadSummaries(database),

    takeUnindexed: takeInRotation((after, limit) => run<UnindexedThread>(take, { after, limit })),

    // Due entries are removed afterwards: a transaction that held both rows could deadlock with a writer of the thread.
    async indexThreads(threads) {
      const gone = threads.flatMap(({ due, entry }) => (entry === undefined ? [due] : []));
      const present = threads.flatMap(({ due, entry }) => (entry === undefined ? [] : [indexed(due, entry)]));
      try {
        if (gone.length > 0) await run(removeEntries, { threads: JSON.stringify(gone) });
        if (present.length > 0) {
          const values = { threads: JSON.stringify(present) };
          await database.transaction(async (step) => {
            await step(lockRanges, values);
            await step(openRanges, values);
            await step(index, values);
          });
        }
        await run(removeDue, { threads: JSON.stringify(threads.map(({ due }) => due)) });
      } catch (error) {
        // A purge has removed one of the threads. The others stay due.
        if (!isForeignKeyViolation(error)) throw error;
      }
    },

    async searchThreads(organizationId, query, limit, after) {
      const queries = matchTexts(organizationId, query, rangeDialect);
      const [beforeAt, beforeId] = after?.split(' ') ?? [Number.MAX_SAFE_INTEGER, ''];
      const rows = await run<Thread & { place: string }>(search, {
        ...foundValues(organizationId, query),
        match: queries[0],
        otherMatch: queries.at(-1),
        since: query.since ?? 0,
        beforeAt,
        beforeId,
        limit,
      });
      return rows.map((row) => ({ thread: pickThread(row), place: row.place }));
    },
  };
}

function indexed(due: UnindexedThread, entry: IndexedThread) {
  const { thread, version, state, line } = entry;
  const activityAt = thread.updatedAt ?? thread.createdAt;
  // PostgreSQL rejects the JSON of a text that was cut within a character.
  const texts = { line: line.toWellFormed(), terms: scopedTerms(entry, rangeStart).toWellFormed() };
  return { ...due, ...texts, activityAt, version, state };
}
