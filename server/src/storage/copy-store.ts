import { hash } from 'node:crypto';
import type { PassageText } from '../domain/document.ts';
import { invalid } from '../domain/errors.ts';
import {
  type Archive,
  type ArchiveTable,
  type ArchiveTarget,
  archiveTable,
  archiveTables,
  createStartRow,
  type Row,
  type Terms,
} from './port/archive.ts';
import { scopedTerms } from './sql/documents.ts';
import { rejectsValues } from './sql/requests.ts';

/** The words by which a passage of the document with this name and title is found. */
type ExtractPassageTerms = (name: string, title: string, passage: PassageText) => string[];

interface CopyTools {
  readonly extractPassageTerms: ExtractPassageTerms;
  /** Called before each batch. Every row counts twice: once to copy and once to compare. */
  readonly onProgress: (done: number, all: number, doing: string) => void;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Of the rows, in key order. It is the same for both stores. */
  readonly checksum: string;
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
  { extractPassageTerms, onProgress }: CopyTools,
): Promise<CopiedTable[]> {
  if (!(await target.isUnfinished())) await assertEmpty(target);
  const counts = new Map<string, number>();
  for (const table of archiveTables) counts.set(table.name, await source.count(table));
  const renumbers = source.threadNumbers === 'organization' && target.threadNumbers === 'store';
  await target.begin();
  const all = 2 * [...counts.values()].reduce((sum, rows) => sum + rows, 0);
  let done = 0;
  for (const table of archiveTables) {
    let number = -counts.get(table.name)!;
    for await (const { rows } of readBatches(source, table)) {
      onProgress(done, all, `copying ${table.name}`);
      // The embedded store numbers the threads of all organizations together. Copied threads get numbers below zero there, so
      // that a walk that started at the source skips none. Threads created later are above the walk's position anyway.
      const isRenumbered = renumbers && table.name === 'thread';
      const batch = isRenumbered ? rows.map((row, index) => ({ ...row, sequence: number + index })) : rows;
      const terms =
        table.name === 'passage' ? rows.map((row) => indexPassage(row, extractPassageTerms)) : undefined;
      await writeRows(target, table, batch, terms);
      number += rows.length;
      done += rows.length;
    }
  }
  const tables: CopiedTable[] = [];
  for (const table of archiveTables) {
    const ignored: Record<string, null> = {};
    for (const column in table.columns) {
      const name = `${table.name}.${column}`;
      if (target.derived.has(name) || (renumbers && name === 'thread.sequence')) ignored[column] = null;
    }
    let checksum = '';
    for await (const { rows, after, limit } of readBatches(source, table)) {
      onProgress(done, all, `comparing ${table.name}`);
      const text = encoded(rows, ignored);
      if (text !== encoded(await target.read(table, after, limit), ignored)) {
        throw invalid(`The copy differs from the source in the table ${table.name}: run the command again.`);
      }
      checksum = hash('sha256', `${checksum}${text}`);
      done += rows.length;
    }
    tables.push({ table: table.name, rows: counts.get(table.name)!, checksum });
  }
  if (!(await source.isAlone()) || !(await target.isAlone())) {
    throw invalid(
      'Another process opened one of the stores during the copy: stop it and run the command again.',
    );
  }
  await target.finish();
  return tables;
}

/** If the target rejects the rows, they are written one by one, to name the first one that it rejects. */
async function writeRows(target: ArchiveTarget, table: ArchiveTable, rows: readonly Row[], terms?: Terms) {
  try {
    await target.write(table, rows, terms);
  } catch (error) {
    if (!rejectsValues(error)) throw error;
    if (rows.length === 1) {
      const key = table.key.map((column) => rows[0]![column]).join(', ');
      const { message } = error as Error;
      throw invalid(
        `The row ${key} of the table ${table.name} cannot be copied (${message}): repair the source.`,
      );
    }
    for (const [index, row] of rows.entries())
      await writeRows(target, table, [row], terms && [terms[index]!]);
  }
}

/** Opening a store creates secrets in it, so only organizations and users show that it is in use. */
async function assertEmpty(target: ArchiveTarget): Promise<void> {
  for (const name of ['organization', 'user'] as const) {
    if ((await target.count(archiveTable(name))) > 0) {
      throw invalid('The target is not empty and is not an unfinished copy: choose an empty one.');
    }
  }
}

/** The rows of a table in key order, with the key before each batch. The last batch is empty. */
async function* readBatches(source: Archive, table: ArchiveTable) {
  let after = createStartRow(table);
  let rows: Row[];
  let limit = rowsFirst;
  do {
    rows = await source.read(table, after, limit);
    yield { rows, after, limit };
    after = rows.at(-1) ?? after;
    limit = nextLimit(rows, limit);
  } while (rows.length > 0);
}

function indexPassage(
  { heading, text, name, title, corpus }: Row,
  extractTerms: ExtractPassageTerms,
): string {
  const passage = { heading: String(heading), text: String(text) };
  return scopedTerms(Number(corpus), extractTerms(String(name ?? ''), String(title ?? ''), passage));
}

/** Keeps a batch below `batchLength` characters. The limit grows by a factor of at most 4. */
function nextLimit(rows: readonly Row[], limit: number): number {
  let length = 0;
  for (const row of rows)
    for (const value of Object.values(row)) length += typeof value === 'string' ? value.length : 8;
  return Math.max(1, Math.min(rowsMax, 4 * limit, Math.floor((batchLength / length) * rows.length)));
}

function encoded(rows: readonly Row[], ignored: Row): string {
  return JSON.stringify(rows.map((row) => ({ ...row, ...ignored })));
}
