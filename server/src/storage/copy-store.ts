import { ServiceError } from '../domain/errors.ts';
import {
  type Archive,
  type ArchiveTable,
  type ArchiveTarget,
  archiveTables,
  type Key,
  type Marks,
  type Row,
} from './archive.ts';
import { scopedTerms } from './sql/documents.ts';

export interface CopyTools {
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  readonly termsOf: (text: string) => string[];
  /** Called before each batch. Every row counts twice: once to copy and once to compare. */
  readonly onProgress: (done: number, all: number, doing: string) => void;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Of the rows, in key order. It is the same for both stores. */
  readonly checksum: string;
}

export interface CopyOutcome {
  readonly tables: readonly CopiedTable[];
}

/** The source as it was found at the start. */
interface Plan {
  readonly counts: ReadonlyMap<string, number>;
  readonly marks: Marks;
  /** See `renumbered`. */
  readonly renumber: boolean;
}

const rowsMax = 500;
/** The first batch of a table is small because its rows may be long. */
const rowsFirst = 20;
const batchLength = 2_000_000;

/**
 * Copies every row, then compares both stores row by row. Memory holds one batch of each store. The target is marked as an
 * unfinished copy until the comparison has succeeded: no process serves it until then, and the next run overwrites it.
 */
export async function copyStore(
  source: Archive,
  target: ArchiveTarget,
  tools: CopyTools,
): Promise<CopyOutcome> {
  if (!(await target.isUnfinished())) await assertEmpty(target);
  const plan = await survey(source, target);
  await target.begin();
  const all = 2 * [...plan.counts.values()].reduce((sum, rows) => sum + rows, 0);
  let done = 0;
  for (const table of archiveTables) {
    await copyTable(source, target, table, plan, tools, (rows) =>
      tools.onProgress(done + rows, all, `copying ${table.name}`),
    );
    done += plan.counts.get(table.name) ?? 0;
  }
  const tables: CopiedTable[] = [];
  for (const table of archiveTables) {
    tables.push(
      await compareTable(source, target, table, plan, tools, (rows) =>
        tools.onProgress(done + rows, all, `comparing ${table.name}`),
      ),
    );
    done += plan.counts.get(table.name) ?? 0;
  }
  if (!(await source.isAlone()) || !(await target.isAlone())) {
    throw refusal(
      'Another process opened one of the stores during the copy: stop it and run the command again.',
    );
  }
  await target.finish(plan.marks);
  return { tables };
}

/** Opening a store creates secrets in it, so only organizations and users show that it is in use. */
async function assertEmpty(target: ArchiveTarget): Promise<void> {
  for (const table of archiveTables) {
    if (table.name !== 'organization' && table.name !== 'user') continue;
    if ((await target.count(table)) > 0) {
      throw refusal('The target is not empty and is not an unfinished copy: name an empty one.');
    }
  }
}

async function survey(source: Archive, target: ArchiveTarget): Promise<Plan> {
  const counts = new Map<string, number>();
  for (const table of archiveTables) counts.set(table.name, await source.count(table));
  return {
    counts,
    marks: await source.readMarks(),
    renumber: source.threadNumbers === 'organization' && target.threadNumbers === 'store',
  };
}

async function copyTable(
  source: Archive,
  target: ArchiveTarget,
  table: ArchiveTable,
  plan: Plan,
  { termsOf }: CopyTools,
  onRows: (rows: number) => void,
): Promise<void> {
  let after: Key | null = null;
  let rows = 0;
  let limit = rowsFirst;
  for (;;) {
    onRows(rows);
    const read: Row[] = await source.read(table, after, limit);
    if (read.length === 0) return;
    const batch = plan.renumber && table.name === 'thread' ? renumbered(table, read, rows, plan) : read;
    const terms =
      table.name === 'passage' ? batch.map((row) => passageTerms(table, row, termsOf)) : undefined;
    await target.write(table, batch, terms);
    after = keyOf(table, read.at(-1)!);
    rows += read.length;
    limit = nextLimit(read, limit);
  }
}

/**
 * PostgreSQL numbers the threads of each organization by themselves, and the embedded store numbers all of them together.
 * Copied threads get numbers below zero there, so that a walk that started at the source skips none of them. Threads
 * created after the walk started have newer activity, so they are before its position anyway.
 */
function renumbered(table: ArchiveTable, rows: readonly Row[], before: number, plan: Plan): Row[] {
  const place = Object.keys(table.columns).indexOf('sequence');
  const count = plan.counts.get(table.name) ?? 0;
  return rows.map((row, index) => row.with(place, before + index - count));
}

/** The same terms that add-document.ts derives. */
function passageTerms(table: ArchiveTable, row: Row, termsOf: (text: string) => string[]): string {
  const names = [...Object.keys(table.columns), ...Object.keys(table.joined?.columns ?? {})];
  const column = (name: string) => row[names.indexOf(name)] ?? '';
  const terms = termsOf(`${column('title')}\n${column('heading')}\n${column('text')}`);
  return scopedTerms(column('corpus') as number, terms);
}

async function compareTable(
  source: Archive,
  target: ArchiveTarget,
  table: ArchiveTable,
  plan: Plan,
  { sha256 }: CopyTools,
  onRows: (rows: number) => void,
): Promise<CopiedTable> {
  const ignored = Object.keys(table.columns).map((column) => {
    const name = `${table.name}.${column}`;
    return target.derived.has(name) || (plan.renumber && name === 'thread.sequence');
  });
  let after: Key | null = null;
  let rows = 0;
  let limit = rowsFirst;
  let checksum = '';
  for (;;) {
    onRows(rows);
    const [theirs, ours] = [await source.read(table, after, limit), await target.read(table, after, limit)];
    const text = encoded(theirs, ignored);
    if (text !== encoded(ours, ignored)) {
      throw refusal(`The copy differs from the source in the table ${table.name}: run the command again.`);
    }
    checksum = sha256(`${checksum}${text}`);
    rows += theirs.length;
    if (theirs.length === 0) return { table: table.name, rows, checksum };
    after = keyOf(table, theirs.at(-1)!);
    limit = nextLimit(theirs, limit);
  }
}

function keyOf({ keyLength }: ArchiveTable, row: Row): Key {
  return row.slice(0, keyLength) as unknown as Key;
}

/** Keeps a batch below `batchLength` characters. The limit grows by a factor of at most 4. */
function nextLimit(rows: readonly Row[], limit: number): number {
  let length = 0;
  for (const row of rows) for (const value of row) length += typeof value === 'string' ? value.length : 8;
  return Math.max(1, Math.min(rowsMax, 4 * limit, Math.floor((batchLength / length) * rows.length)));
}

function encoded(rows: readonly Row[], ignored: readonly boolean[]): string {
  return JSON.stringify(
    rows.map((row) =>
      row.map((value, index) => (ignored[index] ? null : value instanceof Uint8Array ? [...value] : value)),
    ),
  );
}

function refusal(sentence: string): ServiceError {
  return new ServiceError('INVALID_PARAMS', sentence);
}
