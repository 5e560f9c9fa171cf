import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import {
  type Archive,
  type ArchiveTable,
  type ArchiveTarget,
  archiveTables,
  assertAllKnown,
  type Row,
  readText,
  StoreInUse,
  type Terms,
  unfinishedCopyFault,
  unfinishedCopyTable,
  type Value,
} from '../archive.ts';
import { type CallColumns, identifier, join, sql, statement } from '../sql/sql.ts';
import { askedWith, query, types } from './database.ts';
import { bringUpToDate, isUnfinished } from './migrate.ts';
import { applicationName, Servers } from './servers.ts';

/** Derived from the texts of the passages. */
const ownColumns = ['passage.terms'];

/** Arbitrary, but no other program on this database may use the same number. */
const copyLock = 7_305_302;
/** Enough for the connection of a command that is ending, or of a copy that was killed, to close. */
const connectionWaitMs = 2000;
const retryMs = 50;

/** Counts Skein's other connections. If the address sets another application name, then ours has that name as well. */
const others = `SELECT count(*) AS others FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND (application_name LIKE '${applicationName}%' OR application_name = current_setting('application_name'))`;

/** All reads see the same snapshot. */
export async function openPostgresSource(url: string): Promise<Archive> {
  return open(url, true, async (client) => {
    if (await isUnfinished(client)) throw new Error(unfinishedCopyFault);
    await client.query('SET idle_in_transaction_session_timeout = 0');
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return reader(client);
  });
}

export async function openPostgresTarget(url: string): Promise<ArchiveTarget> {
  return open(url, false, async (client) => {
    await waitUntil(async () => {
      const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS mine', [copyLock]);
      return rows[0].mine;
    });
    // A power cut may lose the last batches: the copy starts over in any case.
    await client.query('SET synchronous_commit = off');
    return writer(client);
  });
}

async function open<T>(url: string, mustExist: boolean, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await new Servers(url).connect({ application_name: `${applicationName} copy`, types });
  try {
    await client.query('SET statement_timeout = 0');
    // Read batches by index: a table that was just filled has no statistics, and would be sorted for every batch.
    await client.query('SET enable_seqscan = off; SET enable_sort = off');
    await bringUpToDate(client, { mustExist });
    await waitUntil(() => isAlone(client));
    const { rows } = await client.query(
      `SELECT table_name AS table, column_name AS column FROM information_schema.columns
       WHERE table_schema = current_schema()`,
    );
    assertAllKnown(rows, ownColumns);
    return await use(client);
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + connectionWaitMs;
  while (!(await condition())) {
    if (performance.now() > until) throw new StoreInUse();
    await pause(retryMs);
  }
}

async function isAlone(client: pg.Client): Promise<boolean> {
  // Within a transaction, PostgreSQL caches the activity that it read first.
  await client.query('SELECT pg_stat_clear_snapshot()');
  return (await client.query(others)).rows[0].others === 0;
}

function reader(client: pg.Client): Archive {
  return {
    threadNumbers: 'organization',
    async count({ name }) {
      return (await client.query(`SELECT count(*) AS rows FROM "${name}"`)).rows[0].rows;
    },
    async read(table, after, limit) {
      const { rows } = await client.query<Value[]>({
        name: `read ${table.name}`,
        text: readText(table, {}, (number) => `$${number}`),
        values: [...after, limit],
        rowMode: 'array',
      });
      return rows;
    },
    async readMarks() {
      const { rows } = await client.query(
        `SELECT greatest((SELECT latest_at FROM store_clock), (SELECT max(latest_at) FROM organization)) AS "latestAt",
          (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM passage_number) AS passage,
          (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM corpus_number) AS corpus,
          (SELECT coalesce(max(move_sequence), 0) FROM organization) AS move`,
      );
      return rows[0];
    },
    isAlone: () => isAlone(client),
    close: () => client.end(),
  };
}

function writer(client: pg.Client): ArchiveTarget {
  const transaction = async (work: () => Promise<unknown>): Promise<void> => {
    await client.query('BEGIN');
    try {
      await work();
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  };
  return {
    ...reader(client),
    derived: new Set(),
    isUnfinished: () => isUnfinished(client),
    begin: () =>
      transaction(async () => {
        const tables = archiveTables.map(({ name }) => `"${name}"`);
        await client.query(`TRUNCATE ${tables.join(', ')}, search_due, search_range, thread_search`);
        await client.query(`CREATE TABLE IF NOT EXISTS ${unfinishedCopyTable} (mark integer)`);
      }),
    async write(table, rows, terms) {
      await client.query(insertion(table, rows, terms));
    },
    async finish(marks) {
      await client.query('SET synchronous_commit = on');
      await transaction(async () => {
        await client.query('UPDATE store_clock SET latest_at = $1', [marks.latestAt]);
        for (const table of ['passage', 'corpus'] as const) {
          if (marks[table] > 0)
            await client.query('SELECT setval($1, $2)', [`${table}_number`, marks[table]]);
        }
        await client.query(`DROP TABLE ${unfinishedCopyTable}`);
      });
      // Without statistics the planner would scan the tables until the server analyzes them by itself.
      await client.query(`ANALYZE ${archiveTables.map(({ name }) => `"${name}"`).join(', ')}`);
    },
  };
}

function insertion({ name, columns }: ArchiveTable, rows: readonly Row[], terms?: Terms): pg.QueryConfig {
  const all: CallColumns = terms === undefined ? columns : { ...columns, terms: 'text' };
  const names = Object.keys(all).map(identifier);
  const vector = sql`array_to_tsvector(string_to_array(terms, ' '))`;
  const selected = terms === undefined ? names : names.with(-1, vector);
  const insert = statement(`write ${name}`)`INSERT INTO ${identifier(name)} (${join(names, sql`, `)})
    SELECT ${join(selected, sql`, `)} FROM ${askedWith(all)}`;
  const lists = Object.keys(columns).map((column, index) => [column, rows.map((row) => row[index])]);
  return query(insert, { ...Object.fromEntries(lists), terms });
}
