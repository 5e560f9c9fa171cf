import type { Thread } from '../../domain/thread.ts';
import { opaque, type Sql, sql, statement } from '../sql/sql.ts';
import { threadColumns, threadOf } from '../sql/thread-reads.ts';
import {
  foundValues,
  isFound,
  matchText,
  type QueryDialect,
  scopedTerms,
  takeInRotation,
  threadSummaries,
} from '../sql/thread-search.ts';
import type { FoundThread, IndexedThread, ThreadSearch, UnindexedThread } from '../store.ts';
import type { Database } from './database.ts';

/** Longer than indexing a batch takes. After a crash, another node takes its threads then. */
const takenMs = 30_000;
/** How many of the newest entries a search tests before it reads the index of terms. */
const newestMax = 500;

export const queryDialect: QueryDialect = {
  and: ' & ',
  or: ' | ',
  term: (term) => `'${term}'`,
  prefix: (prefix) => `'${prefix}':*`,
};

// Materialized, since a plan may repeat a subquery, which would then lock and take more rows than its limit.
const take = statement('take-unindexed')`WITH due AS MATERIALIZED (
    SELECT organization_id, thread_id FROM search_due WHERE taken_until < :now AND organization_id > :after
    ORDER BY organization_id, thread_id LIMIT :limit FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE search_due SET taken_until = :now + ${takenMs} FROM due
    WHERE search_due.organization_id = due.organization_id AND search_due.thread_id = due.thread_id
    RETURNING search_due.organization_id, search_due.thread_id, stamp
  )
  SELECT organization_id AS "organizationId", thread_id AS "threadId", stamp FROM taken
  ORDER BY organization_id, thread_id`;
/** Each call is a row of `:threads`, with the ids of a thread and what `columns` says. */
const threads = (columns: Sql) =>
  sql`json_to_recordset(:threads) AS new ("organizationId" text, "threadId" text, ${columns})`;
const index = statement('index-threads')`
  INSERT INTO thread_search (organization_id, thread_id, activity_at, version, state, line, terms)
  SELECT thread.organization_id, thread.id, new."activityAt", new.version, new.state, new.line,
    array_to_tsvector(string_to_array(new.terms, ' '))
  FROM ${threads(sql`"activityAt" bigint, version bigint, state text, line text, terms text`)}
  JOIN thread ON thread.organization_id = new."organizationId" AND thread.id = new."threadId"
  ON CONFLICT (organization_id, thread_id) DO UPDATE SET activity_at = excluded.activity_at,
    version = excluded.version, state = excluded.state, line = excluded.line, terms = excluded.terms
  WHERE thread_search.version <= excluded.version`;
const removeEntries = statement('remove-from-index')`DELETE FROM thread_search
  USING ${threads(sql`stamp bigint`)}
  WHERE thread_search.organization_id = new."organizationId" AND thread_search.thread_id = new."threadId"`;
const removeDue = statement('remove-indexed')`DELETE FROM search_due
  USING ${threads(sql`stamp bigint`)}
  WHERE search_due.organization_id = new."organizationId" AND search_due.thread_id = new."threadId"
    AND search_due.stamp = new.stamp`;
const place = sql`entry.activity_at || ' ' || entry.thread_id AS place`;
/**
 * Tests the newest entries one by one until the page is full. The terms are read only if the person may read the thread.
 * Without statistics, PostgreSQL expects fewer entries than the limit, and would read and sort the whole organization. A limit
 * that it does not know when it plans makes it follow the index of recency.
 */
const searchNewest = statement('search-newest')`SELECT ${place}, ${threadColumns} FROM (
    SELECT activity_at, thread_id, terms FROM thread_search
    WHERE organization_id = :organizationId AND activity_at >= :since::bigint
      AND (activity_at, thread_id) < (:beforeAt::bigint, :beforeId::text)
    ORDER BY activity_at DESC, thread_id DESC LIMIT (SELECT ${newestMax})
  ) AS entry CROSS JOIN LATERAL (
    SELECT * FROM thread WHERE thread.organization_id = :organizationId AND thread.id = entry.thread_id
      AND CASE WHEN ${isFound} THEN entry.terms @@ :match::tsquery END LIMIT 1
  ) AS thread
  ORDER BY entry.activity_at DESC, entry.thread_id DESC LIMIT :limit`;
// Only the index of terms may choose the rows: what else it could be told about them is hidden from the planner.
const searchAll = statement('search-threads')`WITH entry AS MATERIALIZED (
    SELECT thread_id, activity_at FROM thread_search
    WHERE terms @@ :match::tsquery AND ${opaque(sql`organization_id = :organizationId AND activity_at >= :since::bigint
      AND (activity_at, thread_id) < (:beforeAt::bigint, :beforeId::text)`)}
    ORDER BY activity_at DESC, thread_id DESC LIMIT :limit
  )
  SELECT ${place}, ${threadColumns} FROM entry
  LEFT JOIN thread ON thread.organization_id = :organizationId AND thread.id = entry.thread_id AND ${opaque(isFound)}
  ORDER BY entry.activity_at DESC, entry.thread_id DESC`;

type FoundRow = { place: string } & (Thread | { id: null });

export function postgresThreadSearch(database: Database): ThreadSearch {
  const { run } = database;
  return {
    ...threadSummaries(database),

    takeUnindexed: takeInRotation((after, limit) => run<UnindexedThread>(take, { after, limit })),

    // One statement after the other: a transaction that held both rows could deadlock with a writer of the thread.
    async indexThreads(threads) {
      const gone = threads.flatMap(({ due, entry }) => (entry === undefined ? [due] : []));
      const present = threads.flatMap(({ due, entry }) => (entry === undefined ? [] : [indexed(due, entry)]));
      if (gone.length > 0) await run(removeEntries, { threads: JSON.stringify(gone) });
      if (present.length > 0) await run(index, { threads: JSON.stringify(present) });
      await run(removeDue, { threads: JSON.stringify(threads.map(({ due }) => due)) });
    },

    /**
     * The index of terms does not know the order of the results: all matches are read and sorted. Frequent words fill the page
     * from the newest entries instead, unless a filter leaves few of them.
     */
    async searchThreads(organizationId, query, limit, after) {
      const values = {
        ...foundValues(organizationId, query),
        match: matchText(organizationId, query, queryDialect),
        since: query.since ?? 0,
        limit,
      };
      const isFiltered = query.scope === 'mine' || query.accountId !== undefined || query.state !== undefined;
      const found: FoundThread[] = [];
      let search = isFiltered ? searchAll : searchNewest;
      for (let place = after; ; ) {
        const [beforeAt, beforeId] = place?.split(' ') ?? [Number.MAX_SAFE_INTEGER, ''];
        const rows = await run<FoundRow>(search, { ...values, beforeAt, beforeId });
        for (const row of rows) if (row.id !== null) found.push({ thread: threadOf(row), place: row.place });
        // Rows without a thread were deleted or hidden a moment ago, and others follow in their place.
        if (found.length >= limit || (rows.length < limit && search === searchAll))
          return found.slice(0, limit);
        search = searchAll;
        place = rows.at(-1)?.place ?? place;
      }
    },
  };
}

function indexed(due: UnindexedThread, entry: IndexedThread) {
  const { thread, version, state, line } = entry;
  const activityAt = thread.updatedAt ?? thread.createdAt;
  // PostgreSQL rejects the JSON of a text that was cut within a character.
  const texts = { line: line.toWellFormed(), terms: scopedTerms(entry).toWellFormed() };
  return { ...due, ...texts, activityAt, version, state };
}
