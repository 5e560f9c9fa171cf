import type { ColumnType } from '../port/archive.ts';

declare const brand: unique symbol;

/** A piece of SQL. Its values are named in the text, as in `:title`, and stay named until `statement` numbers them. */
export type Sql = string & { readonly [brand]: true };

/** Only other pieces and numbers can be put into a piece: text that comes from outside has to be a value. */
export function sql(strings: TemplateStringsArray, ...pieces: readonly (Sql | number)[]): Sql {
  return String.raw(strings, ...pieces) as Sql;
}

/** A table or a column whose name is data, quoted. */
export function identifier(name: string): Sql {
  if (!/^\w+$/.test(name)) throw new Error(`${name} cannot be the name of a table or a column.`);
  return `"${name}"` as Sql;
}

/** Hides a condition from PostgreSQL's planner, which without statistics takes `deleted_at IS NULL` for rarer than an id. */
export const opaque = (condition: Sql) => sql`CASE WHEN ${condition} THEN true END`;

/**
 * A column with a text that may be long. SQLite's driver takes 6 ms to decode 100,000 Chinese characters, and Node.js 0.5 ms
 * for the same bytes. So the embedded store selects a long text as bytes, and decodes the column if it is named `content`.
 */
export const longText = (column: Sql) => sql`long_text(${column})`;
export const longTextCalls = /\blong_text\((\w+)\)/g;

export function join(pieces: readonly Sql[], separator: Sql): Sql {
  return pieces.join(separator) as Sql;
}

/** Rows as a value for `json_each`. An object, because `json_each` of both databases reads its members. */
export function jsonRows(rows: readonly object[]): string {
  return JSON.stringify({ ...rows });
}

export type Values = Readonly<Record<string, unknown>>;

/** The values of the calls of a statement, with their types. */
export type CallColumns = Readonly<Record<string, ColumnType>>;

/** The names of the values by their type, separated by spaces. */
export function callColumns(names: Partial<Record<ColumnType, string>>): CallColumns {
  const columns = Object.entries(names).flatMap(([type, list]) =>
    list.split(' ').map((name) => [name, type]),
  );
  return Object.fromEntries(columns);
}

export const columnName = (name: string) => identifier(name.replace(/[A-Z]/g, '_$&').toLowerCase());

/**
 * For PostgreSQL: the calls of a batch as the relation `call`, with a column for each value and the `ordinal` of the call.
 * The lists are subqueries, so that the planner does not see how long they are: it would plan every short batch again.
 */
export function callsWith(columns: CallColumns): Sql {
  const lists = Object.entries(columns).map(
    ([name, type]) => sql`(SELECT :${name as Sql}::${type as Sql}[])`,
  );
  const names = Object.keys(columns).map(columnName);
  return sql`unnest(${join(lists, sql`, `)}) WITH ORDINALITY AS call (${join(names, sql`, `)}, ordinal)`;
}

/** The text with the values of a call replaced by the columns of the relation `call`. */
export function withColumns(text: Sql, columns: CallColumns): Sql {
  return text.replace(valueNames, (value, name: string) =>
    name in columns ? sql`call.${columnName(name)}` : value,
  ) as Sql;
}

/**
 * A text with a name: each database parses and plans it once per connection. `:now` is the store's time. Shared texts are in
 * the common subset of both dialects, except for row locks at the end (`FOR UPDATE`), which SQLite leaves out, and for hints
 * (`INDEXED BY`), which PostgreSQL leaves out. SQLite's names for `greatest` and `strpos` are `max` and `instr`.
 */
export interface Statement {
  readonly name: string;
  readonly sql: Sql;
}

/** Call it when a module is loaded, so that a store call only binds values. */
export function statement(name: string) {
  return (strings: TemplateStringsArray, ...pieces: readonly (Sql | number)[]): Statement => ({
    name,
    sql: sql(strings, ...pieces),
  });
}

/** The names of the values in a text, each once, in order of appearance. `::` is a cast. */
export const valueNames = /(?<!:):([a-z]\w*)/gi;

/** Rejects a missing value instead of writing NULL. */
export function boundValue({ name }: Statement, value: string, values: Values, defaults?: Values): unknown {
  const bound = values[value] === undefined ? defaults?.[value] : values[value];
  if (bound === undefined) throw new Error(`The statement ${name} has no value for :${value}.`);
  return bound;
}

/** The values of `callsWith`: a list for each column. */
export function callValues(statement: Statement, columns: CallColumns, calls: readonly object[]) {
  const lists: Record<string, unknown> = {};
  for (const name in columns) lists[name] = calls.map((call) => boundValue(statement, name, call as Values));
  return lists;
}
