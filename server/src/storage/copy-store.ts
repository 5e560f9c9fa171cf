import { ServiceError } from '../domain/errors.ts';
import {
  type Archive,
  type ArchiveTable,
  type ArchiveTarget,
  archiveTables,
  type CopyProgress,
  type Key,
  type Marks,
  type Row,
} from './archive.ts';

export interface CopyTools {
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  readonly termsOf: (text: string) => string[];
  /** Told before each batch how many rows of all there are to copy and to compare are done. */
  readonly onProgress: (done: number, all: number, doing: string) => void;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Of the rows, in order, as both stores hold them now. */
  readonly checksum: string;
}

export interface CopyOutcome {
  /** Whether it went on where an earlier copy was interrupted. */
  readonly resumed: boolean;
  readonly tables: readonly CopiedTable[];
}

/** What is copied, as it was found at the start. */
interface Plan {
  readonly source: string;
  readonly state: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly marks: Marks;
  /** Threads get numbers of their own: see `renumbered`. */
  readonly renumber: boolean;
}

const rowsMax = 500;
/** Unknown rows come in a few at a time: they may be long. */
const rowsFirst = 20;
const batchLength = 2_000_000;

/**
 * Moves everything, then compares both stores row by row. Interrupted at any point, the same call goes on; begun again on
 * a source that has changed, it starts over. Memory holds one batch of each store.
 */
export async function copyStore(
  source: Archive,
  target: ArchiveTarget,
  tools: CopyTools,
): Promise<CopyOutcome> {
  const plan = await survey(source, target, tools);
  const { resumed, from } = await resumeOrBegin(target, plan);
  const all = 2 * [...plan.counts.values()].reduce((sum, rows) => sum + rows, 0);
  let done = 0;
  for (const table of archiveTables) {
    const count = plan.counts.get(table.name) ?? 0;
    const begun = from.table === table.name ? from : undefined;
    if (begun !== undefined || isAfter(table, from)) {
      await copyTable(source, target, table, plan, begun, tools, (rows) =>
        tools.onProgress(done + rows, all, `copying ${table.name}`),
      );
    }
    done += count;
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
  await assertUndisturbed(source, target);
  await target.finish(plan.marks);
  return { resumed, tables };
}

async function survey(source: Archive, target: ArchiveTarget, { sha256 }: CopyTools): Promise<Plan> {
  const secrets = await source.read(archiveTables[0]!, null, rowsMax);
  const marks = await source.readMarks();
  const counts = new Map<string, number>();
  for (const table of archiveTables) counts.set(table.name, await source.count(table));
  return {
    // The key that seals cursors is drawn once for each store, and goes with every copy of it.
    source: sha256(`${source.place} ${encoded(secrets, [])}`),
    state: sha256(JSON.stringify([marks, [...counts]])),
    counts,
    marks,
    renumber: target.threadNumbers === 'store' && (await source.threadNumbersRepeat()),
  };
}

async function resumeOrBegin(
  target: ArchiveTarget,
  { source, state }: Plan,
): Promise<{ resumed: boolean; from: CopyProgress }> {
  const known = await target.progress();
  if (known === undefined) await assertEmpty(target);
  if (known !== undefined && known.source !== source) {
    throw refusal('The target holds an interrupted copy of another store: name an empty one.');
  }
  if (known?.state === state) return { resumed: true, from: known };
  const from = { source, state, table: archiveTables[0]!.name, after: null, rows: 0 };
  await target.begin(from);
  return { resumed: false, from };
}

/** A store that was only opened has secrets of its own; what makes it someone's are organizations and people. */
async function assertEmpty(target: ArchiveTarget): Promise<void> {
  for (const table of archiveTables) {
    if (table.name !== 'organization' && table.name !== 'user') continue;
    if ((await target.count(table)) > 0) {
      throw refusal('The target is not empty, and is no interrupted copy: name an empty one.');
    }
  }
}

function isAfter(table: ArchiveTable, from: CopyProgress): boolean {
  return archiveTables.indexOf(table) > archiveTables.findIndex(({ name }) => name === from.table);
}

async function copyTable(
  source: Archive,
  target: ArchiveTarget,
  table: ArchiveTable,
  plan: Plan,
  begun: CopyProgress | undefined,
  { termsOf }: CopyTools,
  onRows: (rows: number) => void,
): Promise<void> {
  let after = begun?.after ?? null;
  let rows = begun?.rows ?? 0;
  let limit = rowsFirst;
  for (;;) {
    onRows(rows);
    const read = await source.read(table, after, limit);
    if (read.length === 0) return;
    const batch = plan.renumber && table.name === 'thread' ? renumbered(table, read, rows, plan) : read;
    const terms =
      table.name === 'passage' ? batch.map((row) => passageTerms(table, row, termsOf)) : undefined;
    after = keyOf(table, read.at(-1)!);
    rows += read.length;
    const { source: name, state } = plan;
    await target.write(table, batch, { source: name, state, table: table.name, after, rows }, terms);
    limit = nextLimit(read, limit);
  }
}

/**
 * Where the target numbers the threads of all organizations together and the source does not, they get numbers below
 * zero: a walk begun at the source then leaves none of them out. It leaves out what came after its start all the same,
 * since that stands above it in the listing.
 */
function renumbered(table: ArchiveTable, rows: readonly Row[], before: number, plan: Plan): Row[] {
  const place = Object.keys(table.columns).indexOf('sequence');
  const count = plan.counts.get(table.name) ?? 0;
  return rows.map((row, index) => row.with(place, before + index - count));
}

/** As add-document.ts makes them. */
function passageTerms(table: ArchiveTable, row: Row, termsOf: (text: string) => string[]): string[] {
  const names = [...Object.keys(table.columns), ...Object.keys(table.joined?.columns ?? {})];
  const column = (name: string) => row[names.indexOf(name)] ?? '';
  return termsOf(`${column('title')}\n${column('heading')}\n${column('text')}`);
}

async function compareTable(
  source: Archive,
  target: ArchiveTarget,
  table: ArchiveTable,
  plan: Plan,
  { sha256 }: CopyTools,
  onRows: (rows: number) => void,
): Promise<CopiedTable> {
  const left = Object.keys(table.columns).map((column) => {
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
    const text = encoded(theirs, left);
    if (text !== encoded(ours, left)) {
      await target.invalidate();
      throw refusal(
        `The copy differs from the source in the table ${table.name}: run the command again, it starts over.`,
      );
    }
    checksum = sha256(`${checksum}${text}`);
    rows += theirs.length;
    if (theirs.length === 0) return { table: table.name, rows, checksum };
    after = keyOf(table, theirs.at(-1)!);
    limit = nextLimit(theirs, limit);
  }
}

async function assertUndisturbed(source: Archive, target: ArchiveTarget): Promise<void> {
  if ((await source.isAlone()) && (await target.isAlone())) return;
  await target.invalidate();
  throw refusal(
    'Someone has begun to use one of the stores meanwhile: stop them, and run the command again.',
  );
}

function keyOf({ keyLength }: ArchiveTable, row: Row): Key {
  return row.slice(0, keyLength) as unknown as Key;
}

/** Long rows come in small batches, which grow by steps. */
function nextLimit(rows: readonly Row[], limit: number): number {
  let length = 0;
  for (const row of rows) for (const value of row) length += typeof value === 'string' ? value.length : 8;
  return Math.max(1, Math.min(rowsMax, 4 * limit, Math.floor((batchLength / length) * rows.length)));
}

function encoded(rows: readonly Row[], left: readonly boolean[]): string {
  return JSON.stringify(
    rows.map((row) =>
      row.map((value, index) => (left[index] ? null : value instanceof Uint8Array ? [...value] : value)),
    ),
  );
}

function refusal(sentence: string): ServiceError {
  return new ServiceError('INVALID_PARAMS', sentence);
}
