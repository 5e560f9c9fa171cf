import type Sqlite from 'better-sqlite3';

type Value = string | number | null;

/** Inserts copies of one row of `table` with the named columns changed. An integer primary key is assigned again. */
export function copier(
  database: Sqlite.Database,
  table: string,
  where: string,
  value: string,
): (changes: Record<string, Value>) => void {
  // The pragma leaves out generated columns.
  const described = database.pragma(`table_info(${table})`) as { name: string; type: string; pk: number }[];
  const columns = described
    .filter(({ type, pk }) => !(type === 'INTEGER' && pk === 1))
    .map(({ name }) => name);
  const pattern = database
    .prepare<[string], Record<string, Value>>(`SELECT ${columns.join(', ')} FROM ${table} WHERE ${where} = ?`)
    .get(value);
  if (pattern === undefined) throw new Error(`There is no row of ${table} to copy.`);
  const insert = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  return (changes) => {
    insert.run(columns.map((name) => (Object.hasOwn(changes, name) ? changes[name] : pattern[name])));
  };
}
