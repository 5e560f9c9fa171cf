import type { BatchableStatement, BooleansOf, Statement, Values } from './sql.ts';

/** What a transaction does: yields statements and is given their rows. SQLite runs it in one turn of the event loop. */
export type Work<T> = Generator<{ readonly statement: Statement; readonly values: Values }, T, unknown[]>;

export function* rows<Row>(statement: Statement<BooleansOf<Row>>, values: Values = {}): Work<Row[]> {
  return (yield { statement, values }) as Row[];
}

export function* row<Row>(statement: Statement<BooleansOf<Row>>, values: Values = {}): Work<Row | undefined> {
  return (yield* rows<Row>(statement, values))[0];
}

export function* run(statement: Statement, values: Values = {}): Work<void> {
  yield { statement, values };
}

/** How many rows the statement returned. */
export function* count(statement: Statement, values: Values = {}): Work<number> {
  return (yield* rows(statement, values)).length;
}

/** A method of a port that runs work with the values of each call. */
export function method<Args extends unknown[], T>(
  run: (work: () => Work<T>) => Promise<T>,
  work: (...args: Args) => Work<T>,
): (...args: Args) => Promise<T> {
  return (...args) => run(() => work(...args));
}

export interface Transactions {
  /** Whether a statement takes no round trip, so that many small ones are cheaper than a large one. */
  readonly runsLocally: boolean;
  /** For work that changes nothing. Each statement sees what was committed before it. */
  read<T>(work: () => Work<T>): Promise<T>;
  /** Prepares a statement. On PostgreSQL, calls that wait at the same time share a round trip. */
  readMany<Row>(statement: BatchableStatement<BooleansOf<Row>>): (values: Values) => Promise<Row[]>;
  /** One transaction, which is durable when the promise resolves. */
  write<T>(work: () => Work<T>): Promise<T>;
  /** Like `write`, but without waiting for the disk: it survives a killed process, and maybe not a power cut. */
  writeUnsynced<T>(work: () => Work<T>): Promise<T>;
  /** A single statement as a transaction of its own: on PostgreSQL one round trip instead of three. */
  writeOne<Row>(statement: Statement<BooleansOf<Row>>, values: Values): Promise<Row[]>;
}
