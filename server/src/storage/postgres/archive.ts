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
} from '../port/archive.ts';
import { type CallColumns, identifier, join, postgresStatement, type Sql, sql } from '../sql/sql.ts';
import { callsWith, callValues, query, types } from './database.ts';
import { bringUpToDate, isUnfinished, rejectUnfitSettings } from './migrate.ts';
import { applicationName, Servers } from './servers.ts';

/** Derived from the texts of the passages. */
const ownColumns = ['passage.terms'];

/** The row of an organization may have a later value. */
const expressions = {
  'store_clock.latest_at': 'greatest(latest_at, (SELECT max(latest_at) FROM organization))',
  'store_clock.move_sequence': 'greatest(move_sequence, (SELECT max(move_sequence) FROM organization))',
};

/** Enough for the connection of a command that is ending, or of a copy that was killed, to close. */
const connectionWaitMs = 2000;
const retryMs = 50;

const others = `SELECT count(*) AS others FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE '${applicationName}%'`;

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
    await rejectUnfitSettings(client);
    await bringUpToDate(client, { mustExist });
    await untilAlone(client);
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

async function untilAlone(client: pg.Client): Promise<void> {
  const until = performance.now() + connectionWaitMs;
  while (!(await isAlone(client))) {
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
      const { rows } = await client.query(query(reads.get(table.name)!, { ...after, limit }));
      return rows;
    },
    isAlone: () => isAlone(client),
    close: () => client.end(),
  };
}

function writer(client: pg.Client): ArchiveTarget {
  const tables = archiveTables.map(({ name }) => `"${name}"`).join(', ');
  return {
    ...reader(client),
    derived: new Set(),
    isUnfinished: () => isUnfinished(client),
    async begin() {
      // Statements that are sent together are one transaction.
      await client.query(`TRUNCATE ${tables}, search_due, search_range, thread_search;
        CREATE TABLE IF NOT EXISTS ${unfinishedCopyTable} (mark integer)`);
    },
    async write(table, rows, terms) {
      await client.query(insertion(table, rows, terms));
    },
    async finish() {
      await client.query('SET synchronous_commit = on');
      for (const table of ['passage', 'corpus'])
        await client.query(
          `SELECT setval(pg_get_serial_sequence('${table}', 'number'), max(number)) FROM ${table}`,
        );
      await client.query(`DROP TABLE ${unfinishedCopyTable}`);
      // Without statistics the planner would scan the tables until the server analyzes them by itself.
      await client.query(`ANALYZE ${tables}`);
    },
  };
}

const reads = new Map(
  archiveTables.map((table) => [
    table.name,
    postgresStatement(`read ${table.name}`)`${readText(table, expressions) as Sql}`,
  ]),
);

function createInsertion({ name, columns }: ArchiveTable) {
  // A passage is written with its terms, which are stored as a vector.
  const all: CallColumns = name === 'passage' ? { ...columns, terms: 'text' } : columns;
  const names = Object.keys(all).map(identifier);
  const vector = sql`array_to_tsvector(string_to_array(terms, ' '))`;
  const selected = name === 'passage' ? names.with(-1, vector) : names;
  const insert = postgresStatement(`write ${name}`)`INSERT INTO ${identifier(name)} (${join(names, sql`, `)})
    SELECT ${join(selected, sql`, `)} FROM ${callsWith(all)}`;
  return { insert, columns };
}

const insertions = new Map(archiveTables.map((table) => [table.name, createInsertion(table)]));

function insertion({ name }: ArchiveTable, rows: readonly Row[], terms?: Terms): pg.QueryConfig {
  const { insert, columns } = insertions.get(name)!;
  return query(insert, { ...callValues(insert, columns, rows), terms });
}
