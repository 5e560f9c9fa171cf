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

export type Dialect = 'sqlite' | 'postgres';

interface StatementOptions<Booleans extends string> {
  /** Columns of the rows that are booleans. SQLite returns them as 0 or 1. */
  readonly booleans?: readonly Booleans[];
  /** Columns that `longText` selects. */
  readonly longTexts?: readonly string[];
  /** For a statement that runs rarely: no connection keeps its plan. */
  readonly isRare?: boolean;
}

/**
 * A text with a name: each database parses and plans it once per connection. `:now` is the store's time. Shared texts are in
 * the common subset of both dialects, except for row locks at the end (`FOR UPDATE`), which SQLite leaves out, and for hints
 * (`INDEXED BY`), which PostgreSQL leaves out. SQLite's names for `greatest` and `strpos` are `max` and `instr`.
 *
 * Its type names the booleans of its rows, so that no row with others can be read with it.
 */
export class Statement<in Booleans extends string = never> {
  readonly name: string;
  readonly sql: Sql;
  readonly booleans: readonly string[];
  readonly longTexts: readonly string[];
  readonly isRare: boolean;
  /** How many pieces of SQL meet in the text. */
  readonly fragmentCount: number;
  declare private readonly reads: (booleans: Booleans) => void;

  // Only `statement` and its variants can make one, and they add it to the list.
  private constructor(name: string, sql: Sql, fragmentCount: number, options: StatementOptions<Booleans>) {
    const { booleans = [], longTexts = [], isRare = false } = options;
    this.name = name;
    this.sql = sql;
    this.fragmentCount = fragmentCount;
    this.booleans = booleans;
    this.longTexts = longTexts;
    this.isRare = isRare;
  }

  /** Without a dialect, for tests: the statement is not listed. */
  static for(...dialects: readonly Dialect[]) {
    return <const Booleans extends string = never>(name: string, options: StatementOptions<Booleans> = {}) =>
      (strings: TemplateStringsArray, ...pieces: readonly (Sql | number)[]): Statement<Booleans> => {
        const text = sql(strings, ...pieces);
        const fragmentCount = pieces.filter((piece) => isFragment(piece)).length;
        let made: Statement<Booleans> | undefined;
        for (const dialect of dialects) {
          const known = statements[dialect].get(name);
          if (known !== undefined && known.sql !== text) throw new Error(`Two statements are named ${name}.`);
          made ??=
            (known as Statement<Booleans> | undefined) ?? new Statement(name, text, fragmentCount, options);
          statements[dialect].set(name, made);
        }
        return made ?? new Statement(name, text, fragmentCount, options);
      };
  }
}

/** The columns of a row that are booleans. */
export type BooleansOf<Row> = Row extends unknown
  ? { [Name in keyof Row]-?: Extract<Row[Name], boolean> extends never ? never : Name & string }[keyof Row]
  : never;

/** The name of a table, a column or a value is none. */
const isFragment = (piece: Sql | number) => typeof piece === 'string' && !/^"?\w*"?$/.test(piece);

/** Every statement of the process, by name. `statements.test.ts` compares their texts with the committed ones. */
export const statements: Readonly<Record<Dialect, Map<string, Statement>>> = {
  sqlite: new Map(),
  postgres: new Map(),
};

/** Call it when a module is loaded, so that a store call only binds values. */
export const statement = Statement.for('sqlite', 'postgres');
export const sqliteStatement = Statement.for('sqlite');
export const postgresStatement = Statement.for('postgres');

/** A statement of one call for SQLite, and one of many calls for PostgreSQL. */
export interface BatchableStatement<in Booleans extends string = never> {
  readonly one: Statement<Booleans>;
  readonly many: Statement<Booleans>;
  readonly columns: CallColumns;
}

export function batchableStatement<const Booleans extends string = never>(
  name: string,
  columns: CallColumns,
  options: StatementOptions<Booleans> = {},
) {
  return (
    strings: TemplateStringsArray,
    ...pieces: readonly (Sql | number)[]
  ): BatchableStatement<Booleans> => ({
    one: sqliteStatement(name, options)(strings, ...pieces),
    many: postgresStatement(name, options)`SELECT ordinal, found.* FROM ${callsWith(columns)}
      CROSS JOIN LATERAL (${withColumns(sql(strings, ...pieces), columns)}) AS found`,
    columns,
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
