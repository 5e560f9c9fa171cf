import { memoized } from '../../../../runtime/src/pure/memoized.ts';
import {
  type Archive,
  type ArchiveTable,
  type ArchiveTarget,
  archiveTables,
  assertAllKnown,
  type Row,
  readText,
  StoreInUse,
  unfinishedCopyTable,
  type Value,
} from '../port/archive.ts';
import { identifier, join, type Sql, sql, sqliteStatement } from '../sql/sql.ts';
import { type Database, isUnfinished, openDatabase } from './database.ts';

/** PostgreSQL stores these per organization; here they are values of the whole store. */
const expressions = {
  'organization.latest_at': '(SELECT latest_at FROM store_clock)',
  'organization.thread_sequence': 'max(0, coalesce((SELECT max(sequence) FROM thread), 0))',
  'organization.move_sequence': '(SELECT move_sequence FROM store_clock)',
};
const derived = new Set(Object.keys(expressions));

const keptColumns = ({ name, columns }: Pick<ArchiveTable, 'name' | 'columns'>) =>
  Object.keys(columns).filter((column) => !derived.has(`${name}.${column}`));
const insertTerms = sqliteStatement('write passage_term')`
  INSERT INTO passage_term (rowid, terms) VALUES (:number, :terms)`;
const reads = new Map(
  archiveTables.map((table) => [
    table,
    sqliteStatement(`read ${table.name}`)`${readText(table, expressions) as Sql}`,
  ]),
);
const counts = new Map(
  archiveTables.map(({ name }) => [
    name,
    sqliteStatement(`count ${name}`)`SELECT count(*) FROM ${identifier(name)}`,
  ]),
);
const insertions = new Map(
  archiveTables.map((table) => {
    const kept = keptColumns(table);
    const values = kept.map((column) => `:${column}` as Sql);
    return [
      table.name,
      sqliteStatement(`write ${table.name}`)`INSERT INTO ${identifier(table.name)}
        (${join(kept.map(identifier), sql`, `)}) VALUES (${join(values, sql`, `)})`,
    ];
  }),
);

/** All reads see one snapshot, and no other process can open the store until it is closed. */
export function openSqliteSource(file: string): Archive {
  const database = openAlone(file, { mustExist: true });
  database.exec('BEGIN');
  return reader(database);
}

/** No other process can open the store until it is closed. */
export function openSqliteTarget(file: string): ArchiveTarget {
  const database = openAlone(file, { unfinished: true });
  const insertInto = memoized((table: ArchiveTable) => prepareInsert(database, table));
  const termInsertion = database.prepare(insertTerms.sql);

  return {
    ...reader(database),
    derived,
    isUnfinished: async () => isUnfinished(database),

    begin: async () =>
      database.transaction(() => {
        database.exec("INSERT INTO passage_term (passage_term) VALUES ('delete-all')");
        for (const { name } of archiveTables.toReversed()) database.exec(`DELETE FROM "${name}"`);
        database.exec(`CREATE TABLE IF NOT EXISTS ${unfinishedCopyTable} (mark INTEGER) STRICT`);
      })(),

    write: async (table, rows, terms) =>
      database.transaction(() => {
        const insert = insertInto(table);
        for (const row of rows) insert(row);
        if (terms === undefined) return;
        for (const [index, { number }] of rows.entries()) termInsertion.run({ number, terms: terms[index] });
        // Automatic merges are off: see documents.ts.
        database.exec("INSERT INTO passage_term (passage_term, rank) VALUES ('merge', 500)");
      })(),

    async finish() {
      database.pragma('synchronous = FULL');
      database.exec(`DROP TABLE ${unfinishedCopyTable}`);
      database.pragma('wal_checkpoint(TRUNCATE)');
    },
  };
}

function openAlone(file: string, options: Parameters<typeof openDatabase>[1]): Database {
  let database: Database;
  try {
    database = openDatabase(file, { ...options, alone: true });
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new StoreInUse();
    throw error;
  }
  const columns = database.prepare<[], { table: string; column: string }>(
    `SELECT sqlite_schema.name AS "table", info.name AS "column"
     FROM sqlite_schema JOIN pragma_table_info(sqlite_schema.name) AS info WHERE sqlite_schema.type = 'table'`,
  );
  assertAllKnown(columns.all());
  return database;
}

function reader(database: Database): Archive {
  const readFrom = memoized((table: ArchiveTable) =>
    database.prepare<[Row], Record<string, Value>>(reads.get(table)!.sql),
  );
  return {
    threadNumbers: 'store',
    count: async ({ name }) => database.prepare<[], number>(counts.get(name)!.sql).pluck().get()!,
    async read(table, after, limit) {
      const rows = readFrom(table).all({ ...after, limit });
      for (const row of rows)
        for (const column in table.columns)
          if (table.columns[column] === 'boolean') row[column] = row[column] === 1;
      return rows;
    },
    isAlone: async () => true,
    close: async () => {
      database.close();
    },
  };
}

function prepareInsert(database: Database, { name, columns }: ArchiveTable) {
  const kept = keptColumns({ name, columns });
  const insert = database.prepare(insertions.get(name)!.sql);
  const stored = (value: Value | undefined) => (typeof value === 'boolean' ? Number(value) : value);
  return (row: Row) => insert.run(Object.fromEntries(kept.map((column) => [column, stored(row[column])])));
}
