declare const brand: unique symbol;

/** A piece of SQL. Its values are named in the text, as in `:title`, and stay named until `statement` numbers them. */
export type Sql = string & { readonly [brand]: true };

/** Only other pieces and numbers can be put into a piece: text that comes from outside has to be a value. */
export function sql(strings: TemplateStringsArray, ...pieces: readonly (Sql | number)[]): Sql {
  return String.raw(strings, ...pieces) as Sql;
}

export const empty = sql``;

/** A table or a column whose name is data, quoted. */
export function identifier(name: string): Sql {
  if (!/^\w+$/.test(name)) throw new Error(`${name} cannot be the name of a table or a column.`);
  return `"${name}"` as Sql;
}

/** A value whose name is data. */
export function placeholder(name: string): Sql {
  return `:${name}` as Sql;
}

export function join(pieces: readonly Sql[], separator: Sql): Sql {
  return pieces.join(separator) as Sql;
}

/** A text with a name: PostgreSQL parses and plans it once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** The names of its values, in the order of their numbers. */
  readonly values: readonly string[];
}

export type Values = Readonly<Record<string, unknown>>;

/** To be used when a module is loaded: a call of the store then only binds values. */
export function statement(name: string) {
  return (strings: TemplateStringsArray, ...pieces: readonly (Sql | number)[]): Statement =>
    compile(name, sql(strings, ...pieces));
}

/** A statement without a name is parsed and planned for each call. */
export function compile(name: string, text: Sql): Statement {
  const values: string[] = [];
  // `::` is a cast.
  const numbered = text.replace(/(?<!:):([a-z]\w*)/gi, (_, value: string) => {
    if (!values.includes(value)) values.push(value);
    return `$${values.indexOf(value) + 1}`;
  });
  return { name, text: numbered, values };
}

/** The values in the order of their numbers. Ignores values that the statement does not name. */
export function bind({ name, values: names }: Statement, values: Values, defaults: Values = {}): unknown[] {
  return names.map((value) => {
    const bound = values[value] === undefined ? defaults[value] : values[value];
    if (bound === undefined) throw new Error(`The statement ${name} has no value for :${value}.`);
    return bound;
  });
}
