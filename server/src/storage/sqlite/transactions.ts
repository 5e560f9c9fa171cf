import { memoized } from '../../../../runtime/src/pure/memoized.ts';
import { boundValue, longTextCalls, type Sql, type Statement, type Values, valueNames } from '../sql/sql.ts';
import { rows, type Transactions, type Work } from '../sql/work.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { CommitClock } from './store-time.ts';

/** Of a commit, or of a read, which gives out no later time. */
type Clock = Pick<CommitClock, 'now'> & Partial<CommitClock>;

export function sqliteTransactions(database: Database, commits: CommitQueue): Transactions {
  const run = workRunner(database, commits);
  return {
    runsLocally: true,
    read: async (work) => run(work()),
    readMany: ({ one }) => {
      const runOne = prepare(database, one);
      return async (values) => runOne(values, commits) as never[];
    },
    write: (work) => commits.durable((clock) => run(work(), clock)),
    writeUnsynced: (work) => commits.unsynced((clock) => run(work(), clock)),
    writeOne: (statement, values) => commits.durable((clock) => run(rows(statement, values), clock)),
  };
}

/** Runs work in the transaction of the caller. A statement is prepared when it is first used. */
export function workRunner(database: Database, clockOfReads: Clock) {
  const prepared = memoized((statement: Statement) => prepare(database, statement));
  return <T>(work: Work<T>, clock = clockOfReads): T => {
    let step = work.next();
    while (step.done !== true) step = work.next(prepared(step.value.statement)(step.value.values, clock));
    return step.value;
  };
}

/** Bytes of a text. The driver decodes a shorter one as fast as Node.js does. */
const decodedByDriverMax = 1024;

/** The text in the dialect of SQLite, without the locks of rows, which one writer at a time does not need. */
export function sqliteText({ sql }: Statement): Sql {
  return sql
    .replace(/\bgreatest\(/g, 'max(')
    .replace(/\bleast\(/g, 'min(')
    .replace(/\bstrpos\(/g, 'instr(')
    .replace(longTextCalls, `iif(octet_length($1) > ${decodedByDriverMax}, CAST($1 AS BLOB), $1)`)
    .replace(/ FOR (?:NO KEY UPDATE|KEY SHARE|UPDATE|SHARE)(?: OF [\w, ]+)?(?: SKIP LOCKED)?$/, '') as Sql;
}

/** The text with its values as `?`, and their names in order. Binding by position takes half as long as by name. */
export function positioned(statement: Statement): { text: string; names: readonly string[] } {
  const names: string[] = [];
  const text = sqliteText(statement).replace(valueNames, (_, name: string) => {
    names.push(name);
    return '?';
  });
  return { text, names };
}

/** `:later` is after everything committed before and `previousAt`. */
function prepare(database: Database, statement: Statement) {
  const { text, names } = positioned(statement);
  const usesTime = names.includes('now');
  const prepared = database.prepare<unknown[], Record<string, unknown>>(text);
  const { booleans, longTexts } = statement;
  return (values: Values, clock: Clock): unknown[] => {
    const now = usesTime ? clock.now() : undefined;
    const bound: unknown[] = [];
    for (const name of names) {
      if (name === 'now') bound.push(now);
      else if (name === 'later') bound.push(clock.after!(values.previousAt as number));
      else {
        const value = boundValue(statement, name, values);
        bound.push(typeof value === 'boolean' ? Number(value) : value);
      }
    }
    if (!prepared.reader) {
      prepared.run(bound);
      return [];
    }
    const rows = prepared.all(bound);
    for (const row of rows) {
      for (const name of booleans) if (row[name] !== null) row[name] = row[name] === 1;
      for (const name of longTexts) if (Buffer.isBuffer(row[name])) row[name] = row[name].toString();
    }
    return rows;
  };
}
