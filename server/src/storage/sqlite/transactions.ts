import type { OrganizationId } from '../../domain/id.ts';
import { writeNote } from '../sql/audit.ts';
import {
  askedOnce,
  boundValue,
  type CallColumns,
  type Sql,
  type Statement,
  statement,
  type Values,
  valueNames,
} from '../sql/sql.ts';
import type { Transactions, Work } from '../sql/work.ts';
import type { AuditNote } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

type Run = (statement: Statement, values: Values, now: () => number | undefined) => unknown[];

/** Columns of these names are flags in every shared statement. SQLite returns them as 0 or 1. */
const flags = new Set(
  'accepted apiEnabled byOperator identityBound live opened proven published resets service'.split(' '),
);

/** Runs the statements of `storage/sql`. A statement is prepared when it is first used. */
export function sqliteTransactions(database: Database, commits: CommitQueue): Transactions {
  const run = runner(database);
  return {
    runsLocally: true,
    read: async (work) => runAll(run, work(), () => commits.now()),
    readMany: <Row>(name: string, columns: CallColumns, text: (asked: Sql) => Sql) => {
      const readOne = statement(name)`${text(askedOnce(columns))}`;
      return async (values: Values) => run(readOne, values, () => commits.now()) as Row[];
    },
    write: (work) => commits.durable((clock) => runAll(run, work(), () => clock.now())),
    writeUnsynced: (work) => commits.unsynced((clock) => runAll(run, work(), () => clock.now())),
    writeOne: <Row>(statement: Statement, values: Values) =>
      commits.durable((clock) => run(statement, values, () => clock.now()) as Row[]),
  };
}

/** Runs work in the transaction of the caller, whose time is `now`. */
export function workRunner(database: Database): <T>(work: Work<T>, now?: number) => T {
  const run = runner(database);
  return (work, now) => runAll(run, work, () => now);
}

/** Writes a note in the transaction of the caller, after the change that it describes. */
export function auditWriter(database: Database) {
  const runWork = workRunner(database);
  return (organizationId: OrganizationId, note: AuditNote, at: number): void =>
    runWork(writeNote(organizationId, note), at);
}

function runAll<T>(run: Run, work: Work<T>, now: () => number | undefined): T {
  let step = work.next();
  while (step.done !== true) step = work.next(run(step.value.statement, step.value.values, now));
  return step.value;
}

/** The text without the locks of rows, which one writer at a time does not need. */
export function sqliteText({ sql }: Statement): string {
  return sql.replace(/ FOR (?:NO KEY UPDATE|KEY SHARE|UPDATE|SHARE)(?: SKIP LOCKED)?$/, '');
}

function runner(database: Database): Run {
  const prepared = new WeakMap<Statement, (values: Values, now: () => number | undefined) => unknown[]>();
  return (statement, values, now) => {
    let run = prepared.get(statement);
    if (run === undefined) {
      run = prepare(database, statement);
      prepared.set(statement, run);
    }
    return run(values, now);
  };
}

/** Values are bound by position, which takes half as long as by name. */
function prepare(database: Database, statement: Statement) {
  const names: string[] = [];
  const text = sqliteText(statement).replace(valueNames, (_, name: string) => {
    names.push(name);
    return '?';
  });
  const usesTime = names.includes('now');
  const prepared = database.prepare<unknown[], Record<string, unknown>>(text);
  const found = prepared.reader ? prepared.columns().filter(({ name }) => flags.has(name)) : [];
  return (values: Values, now: () => number | undefined): unknown[] => {
    const time = usesTime ? { now: now() } : values;
    const bound: unknown[] = [];
    for (const name of names) {
      const value = boundValue(statement, name, name === 'now' ? time : values);
      bound.push(typeof value === 'boolean' ? Number(value) : value);
    }
    if (!prepared.reader) {
      prepared.run(bound);
      return [];
    }
    const rows = prepared.all(bound);
    for (const row of rows) for (const { name } of found) if (row[name] !== null) row[name] = row[name] === 1;
    return rows;
  };
}
