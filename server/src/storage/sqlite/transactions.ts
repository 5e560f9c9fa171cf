import { memoized } from '../../../../runtime/src/pure/memoized.ts';
import { boundValue, longTextCalls, type Sql, type Statement, type Values, valueNames } from '../sql/sql.ts';
import { rows, type Transactions, type Work } from '../sql/work.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { CommitClock } from './store-time.ts';

/** Of a commit, or of a read, which gives out no later time. */
type Clock = Pick<CommitClock, 'now'> & Partial<CommitClock>;

/** Columns of these names are flags in every shared statement. SQLite returns them as 0 or 1. */
const flags = new Set(
  'accepted apiEnabled byOperator found hasKeys hasThreads identityBound live opened proven published resets service shownToAdmin'.split(
    ' ',
  ),
);

export function sqliteTransactions(database: Database, commits: CommitQueue): Transactions {
  const run = workRunner(database, commits);
  return {
    runsLocally: true,
    read: async (work) => run(work()),
    readMany: (statement) => {
      const runOne = prepare(database, statement);
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

/** Binding by position takes half as long as by name. `:later` is after everything committed before and `previousAt`. */
function prepare(database: Database, statement: Statement) {
  const names: string[] = [];
  const text = sqliteText(statement).replace(valueNames, (_, name: string) => {
    names.push(name);
    return '?';
  });
  const usesTime = names.includes('now');
  const prepared = database.prepare<unknown[], Record<string, unknown>>(text);
  const columns = prepared.reader ? prepared.columns() : [];
  const found = columns.filter(({ name }) => flags.has(name));
  const hasContent = columns.some(({ name }) => name === 'content');
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
    for (const row of rows) for (const { name } of found) if (row[name] !== null) row[name] = row[name] === 1;
    if (hasContent)
      for (const row of rows) if (Buffer.isBuffer(row.content)) row.content = row.content.toString();
    return rows;
  };
}
