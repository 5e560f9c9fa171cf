import type { ThreadId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import { opaque, sql, statement } from '../sql/sql.ts';
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

export const queryDialect: QueryDialect = {
  and: ' & ',
  or: ' | ',
  term: (term) => `'${term}'`,
  prefix: (prefix) => `'${prefix}':*`,
};

const take = statement('take-unindexed')`WITH taken AS (
    UPDATE search_due SET taken_until = :now + ${takenMs}
    WHERE (organization_id, thread_id) IN (
      SELECT organization_id, thread_id FROM search_due WHERE taken_until < :now AND organization_id > :after
      ORDER BY organization_id, thread_id LIMIT :limit FOR UPDATE SKIP LOCKED)
    RETURNING organization_id, thread_id, stamp
  )
  SELECT organization_id AS "organizationId", thread_id AS "threadId", stamp FROM taken
  ORDER BY organization_id, thread_id`;
const named = sql`unnest(:organizationIds::text[], :threadIds::text[]`;
const index = statement('index-threads')`
  INSERT INTO thread_search (organization_id, thread_id, activity_at, version, state, line, terms)
  SELECT thread.organization_id, thread.id, new.activity_at, new.version, new.state, new.line,
    array_to_tsvector(string_to_array(new.terms, ' '))
  FROM ${named}, :activities::bigint[], :versions::bigint[], :states::text[], :lines::text[], :terms::text[])
    AS new (organization_id, thread_id, activity_at, version, state, line, terms)
  JOIN thread ON thread.organization_id = new.organization_id AND thread.id = new.thread_id
  ON CONFLICT (organization_id, thread_id) DO UPDATE SET activity_at = excluded.activity_at,
    version = excluded.version, state = excluded.state, line = excluded.line, terms = excluded.terms
  WHERE thread_search.version <= excluded.version`;
const removeEntries = statement('remove-from-index')`DELETE FROM thread_search
  USING ${named}) AS gone (organization_id, thread_id)
  WHERE thread_search.organization_id = gone.organization_id AND thread_search.thread_id = gone.thread_id`;
const removeDue = statement('remove-indexed')`DELETE FROM search_due
  USING ${named}, :stamps::bigint[]) AS done (organization_id, thread_id, stamp)
  WHERE search_due.organization_id = done.organization_id AND search_due.thread_id = done.thread_id
    AND search_due.stamp = done.stamp`;
// Only the index of terms may choose the rows: what else it could be told about them is hidden from the planner.
const search = statement('search-threads')`WITH found AS MATERIALIZED (
    SELECT thread_id, activity_at FROM thread_search
    WHERE terms @@ :match::tsquery AND ${opaque(sql`organization_id = :organizationId AND activity_at >= :since::bigint
      AND (activity_at, thread_id) < (:beforeAt::bigint, :beforeId::text)`)}
    ORDER BY activity_at DESC, thread_id DESC LIMIT :limit
  )
  SELECT found.activity_at || ' ' || found.thread_id AS place, ${threadColumns} FROM found
  LEFT JOIN thread ON thread.organization_id = :organizationId AND thread.id = found.thread_id AND ${opaque(isFound)}
  ORDER BY found.activity_at DESC, found.thread_id DESC`;

type FoundRow = { place: string } & (Thread | { id: null });

export function postgresThreadSearch(database: Database): ThreadSearch {
  const { run } = database;
  return {
    ...threadSummaries(database, sql`SELECT jsonb_array_elements_text(:threadIds::jsonb) AS id`),

    takeUnindexed: takeInRotation((after, limit) => run<UnindexedThread>(take, { after, limit })),

    // One statement after the other: a transaction that held both rows could deadlock with a writer of the thread.
    async indexThreads(threads) {
      const present = threads.flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
      const gone = threads.flatMap(({ due, entry }) => (entry === undefined ? [due] : []));
      if (gone.length > 0) await run(removeEntries, namesOf(gone));
      if (present.length > 0) await run(index, columnsOf(present));
      const all = threads.map(({ due }) => due);
      await run(removeDue, { ...namesOf(all), stamps: all.map(({ stamp }) => stamp) });
    },

    async searchThreads(organizationId, query, limit, after) {
      const values = {
        ...foundValues(organizationId, query),
        match: matchText(organizationId, query, queryDialect),
        since: query.since ?? 0,
        limit,
      };
      const found: FoundThread[] = [];
      for (let place = after; ; ) {
        const [beforeAt, beforeId] = place?.split(' ') ?? [Number.MAX_SAFE_INTEGER, ''];
        const rows = await run<FoundRow>(search, { ...values, beforeAt, beforeId });
        for (const row of rows) if (row.id !== null) found.push({ thread: threadOf(row), place: row.place });
        // Rows without a thread were deleted or hidden a moment ago, and others follow in their place.
        if (found.length >= limit || rows.length < limit) return found.slice(0, limit);
        place = rows.at(-1)!.place;
      }
    },
  };
}

function namesOf(threads: readonly Pick<UnindexedThread, 'organizationId' | 'threadId'>[]) {
  return {
    organizationIds: threads.map(({ organizationId }) => organizationId),
    threadIds: threads.map(({ threadId }): ThreadId => threadId),
  };
}

function columnsOf(entries: readonly IndexedThread[]) {
  return {
    organizationIds: entries.map(({ thread }) => thread.organizationId),
    threadIds: entries.map(({ thread }) => thread.id),
    activities: entries.map(({ thread }) => thread.updatedAt ?? thread.createdAt),
    versions: entries.map(({ version }) => version),
    states: entries.map(({ state }) => state),
    lines: entries.map(({ line }) => line),
    terms: entries.map(scopedTerms),
  };
}
