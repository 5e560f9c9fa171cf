import type { Thread } from '../../domain/thread.ts';
import { opaque, type Sql, sql, statement, type Values } from '../sql/sql.ts';
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
/** The newest entries, which a search reads first. */
const walkedMax = 500;
/** How many entries that match are sorted. A range of this many needs no smaller one. */
const matchesMax = 2000;
const rangeGrowth = 4;

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
const position = sql`activity_at DESC, thread_id DESC`;
const isBefore = sql`organization_id = :organizationId
  AND (activity_at, thread_id) < (:beforeAt::bigint, :beforeId::text)`;
const inRange = sql`${isBefore} AND (activity_at, thread_id) >= (:fromAt::bigint, :fromId::text)`;
/** Where a range of `:size` entries ends. No row if there are fewer. */
const edge = statement('search-edge')`SELECT activity_at AS at, thread_id AS id FROM thread_search
  WHERE ${isBefore} AND activity_at >= :since::bigint ORDER BY ${position} OFFSET :size::bigint - 1 LIMIT 1`;
const searchIn = (name: string, matching: Sql) => statement(name)`WITH found AS MATERIALIZED (
    ${matching} ORDER BY ${position} LIMIT :limit
  )
  SELECT found.activity_at AS "placeAt", found.thread_id AS "placeId", matches, ${threadColumns} FROM found
  LEFT JOIN thread ON thread.organization_id = :organizationId AND thread.id = found.thread_id AND ${opaque(isFound)}
  ORDER BY found.activity_at DESC, found.thread_id DESC`;
/** Reads entries one after the other until the page is full. */
const walk = searchIn(
  'search-newest',
  sql`SELECT thread_id, activity_at, 0 AS matches FROM thread_search
    WHERE ${inRange} AND ${opaque(sql`terms @@ :match::tsquery`)}`,
);
/** Collects the entries that match, and sorts them unless there are too many. */
const collect = searchIn(
  'search-terms',
  sql`SELECT thread_id, activity_at, count(*) OVER () AS matches FROM (
      SELECT thread_id, activity_at FROM thread_search WHERE ${inRange} AND terms @@ :match::tsquery
      LIMIT ${matchesMax + 1}) AS entry`,
);
// Leaves the planner with bitmaps of the two indexes, which it can combine before it reads a row.
const combineIndexes = statement('combine-indexes')`SELECT set_config(name, value, true) FROM (VALUES
  ('enable_seqscan', 'off'), ('enable_indexscan', 'off'), ('plan_cache_mode', 'force_custom_plan')) AS set (name, value)`;

type FoundRow = { placeAt: number; placeId: string; matches: number } & (Thread | { id: null });
type Position = { readonly at: number | string; readonly id: string };

export function postgresThreadSearch(database: Database): ThreadSearch {
  const { run } = database;
  const collectMatches = (values: Values) =>
    database.transaction(async (run) => {
      await run(combineIndexes);
      return run<FoundRow>(collect, values);
    });
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
     * A frequent word fills the page from the newest entries. Otherwise the index of terms is asked for all that match. It
     * does not know their order: if there are too many to sort, they are looked for in ranges, from the newest.
     */
    async searchThreads(organizationId, query, limit, after) {
      const since = query.since ?? 0;
      const values = {
        ...foundValues(organizationId, query),
        match: matchText(organizationId, query, queryDialect),
        since,
        limit,
      };
      const found: FoundThread[] = [];
      const [at = Number.MAX_SAFE_INTEGER, id = ''] = after?.split(' ') ?? [];
      let before: Position = { at, id };
      const edgeOf = async (size: number) =>
        (await run<Position>(edge, { ...values, beforeAt: before.at, beforeId: before.id, size }))[0];
      /** Whether the search is over. Undefined if too many entries match. */
      const searchDownTo = async (
        from: Position | undefined,
        search: (values: Values) => Promise<FoundRow[]>,
      ) => {
        const { at: fromAt, id: fromId } = from ?? { at: since, id: '' };
        const rows = await search({ ...values, beforeAt: before.at, beforeId: before.id, fromAt, fromId });
        if ((rows[0]?.matches ?? 0) > matchesMax) return undefined;
        for (const row of rows)
          if (row.id !== null) found.push({ thread: threadOf(row), place: `${row.placeAt} ${row.placeId}` });
        // Rows without a thread were deleted or hidden a moment ago, and others follow in their place.
        const last = rows.length < limit ? from : { at: rows.at(-1)!.placeAt, id: rows.at(-1)!.placeId };
        before = last ?? before;
        return found.length >= limit || last === undefined;
      };

      let isOver = await searchDownTo(await edgeOf(walkedMax), (values) => run(walk, values));
      for (let size: number | undefined; !isOver; ) {
        isOver = await searchDownTo(size === undefined ? undefined : await edgeOf(size), collectMatches);
        if (isOver === undefined) size = size === undefined ? matchesMax : size / rangeGrowth;
        else if (size !== undefined) size *= rangeGrowth;
      }
      return found.slice(0, limit);
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
