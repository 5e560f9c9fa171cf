import Sqlite from 'better-sqlite3';
import { KeptObjects } from '../kept-objects.ts';
import { accountKey } from '../listings.ts';
import { documents, type PassageIndex, passagesPerCommit, scopedTerms } from '../sql/documents.ts';
import { corporaOf, outlineDocuments, passageCountOf, passageQuery, readPassages } from '../sql/passages.ts';
import { statement } from '../sql/sql.ts';
import type { Transactions } from '../sql/work.ts';
import type { Documents, PassageNumber } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import { atEndOfTurn, type Database } from './database.ts';
import type { CommitClock } from './store-time.ts';
import { queryDialect, termMerge } from './thread-search.ts';
import { workRunner } from './transactions.ts';

type Passages = Pick<Documents, 'findPassages' | 'readPassages' | 'outlineDocuments'>;

export const sqliteDocuments = (
  database: Database,
  commits: CommitQueue,
  transactions: Transactions,
): Documents => ({
  ...documents(transactions, sqlitePassageIndex(database, commits)),
  // Without a cache: this connection searches only for commands, or if the connection of a thread has failed.
  ...sqlitePassages(database, (_, search) => database.transaction(() => search((_name, read) => read()))()),
});

/** For a thread that searches outside of the event loop. All reads of one turn see the documents as of its start. */
export function openPassages(file: string): Passages {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true });
  return sqlitePassages(database, cachedSearches(database));
}

type Once = <Value extends object>(name: string, read: () => Value) => Value;
/** Runs a search in a transaction. The search calls `once` to read what is not cached under the name. */
type RunSearch = <T>(organizationId: string, search: (once: Once) => T) => T;

/** A call is one transaction, or part of its turn's; either way SQLite locks the file once, not per term. */
function sqlitePassages(database: Database, runSearch: RunSearch): Passages {
  const runWork = workRunner(database, { now: Date.now });
  const holdersOf = database
    .prepare<[object], PassageNumber>(
      'SELECT rowid FROM passage_term WHERE passage_term MATCH @anyCorpus LIMIT @limit + 0',
    )
    .pluck();
  const hiddenNumbers = database
    .prepare<[object], PassageNumber>(
      `SELECT number FROM passage WHERE organization_id = @organizationId AND document_id IN (
         SELECT id FROM document WHERE organization_id = @organizationId AND state <> 'ready')`,
    )
    .pluck();

  return {
    // Not cached: example questions are added to a document that is ready.
    outlineDocuments: async (organizationId, ...asked) =>
      runSearch(organizationId, () => runWork(outlineDocuments(organizationId, ...asked))),

    findPassages: async (organizationId, accountId, terms, limit) =>
      runSearch(organizationId, (once) => {
        const account = accountKey(accountId);
        const corpora = once(`corpora ${account}`, () => runWork(corporaOf(organizationId, accountId)));
        const passageCount = passageCountOf(corpora);
        if (passageCount === 0) return { passageCount, holders: terms.map(() => []) };
        let hidden: ReadonlySet<PassageNumber> | undefined;
        const find = (term: string) => {
          // The index also has the passages of documents that are being written or removed. There are rarely any.
          hidden ??= new Set(hiddenNumbers.all({ organizationId }));
          const anyCorpus = passageQuery(corpora, term, queryDialect);
          const found = holdersOf.all({ anyCorpus, limit: limit + hidden.size });
          return found.filter((number) => !hidden!.has(number)).slice(0, limit);
        };
        return {
          passageCount,
          holders: terms.map((term) => once(`${limit} ${term} ${account}`, () => find(term))),
        };
      }),

    readPassages: async (organizationId, passages) =>
      runSearch(organizationId, (once) =>
        passages.flatMap((number) =>
          once(`passage ${number}`, () => runWork(readPassages(organizationId, [number]))),
        ),
      ),
  };
}

const lockDocuments = statement('lock-documents')`SELECT id FROM organization WHERE id = :organizationId`;

export function sqlitePassageIndex(database: Database, commits: CommitQueue): PassageIndex {
  const touchDocument = database.prepare(
    `UPDATE document SET added_at = @now WHERE organization_id = @organizationId AND id = @id AND state = 'writing'`,
  );
  const insertPassage = database.prepare(
    `INSERT INTO passage (organization_id, document_id, heading, text) VALUES (@organizationId, @id, @heading, @text)`,
  );
  const insertTerms = database.prepare('INSERT INTO passage_term (rowid, terms) VALUES (@number, @terms)');
  const deletePassages = database.prepare(
    `DELETE FROM passage WHERE number IN (
       SELECT number FROM passage WHERE organization_id = @organizationId AND document_id = @id
       LIMIT ${passagesPerCommit})`,
  );

  /** One part at a time for all callers: writes of one turn share a commit, and many parts would make it long. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(write: (clock: CommitClock) => T): Promise<T> {
    const next = last.then(() => commits.unsynced(write));
    last = next.catch(() => {});
    return next;
  }

  const mergeTerms = termMerge(database, 'passage_term', inTurn);

  return {
    lockDocuments,

    async writePart(organizationId, id, corpus, part) {
      const written = await inTurn((clock) => {
        if (touchDocument.run({ organizationId, id, now: clock.now() }).changes === 0) return false;
        for (const { heading, text, terms } of part) {
          const { lastInsertRowid: number } = insertPassage.run({ organizationId, id, heading, text });
          insertTerms.run({ number, terms: scopedTerms(corpus, terms) });
        }
        return true;
      });
      await mergeTerms();
      return written;
    },

    async removePart(organizationId, id) {
      const removed = await inTurn(() => deletePassages.run({ organizationId, id }).changes);
      await mergeTerms();
      return removed;
    },
  };
}

/** An organization with more documents has no cache: comparing them would take longer than it saves. */
const documentsMax = 200;
/** Of all organizations together, approximately. */
const bytesMax = 16_000_000;
/** What a value takes besides its texts. */
const valueMemory = 200;

/**
 * Caches what searches read, per organization, as long as it has the same documents: a document that is ready never
 * changes. The searches of one turn share a transaction with the comparison of the documents.
 */
function cachedSearches(database: Database): RunSearch {
  const list = database.prepare<[object], { ids: string | null; count: number }>(
    `SELECT group_concat(id) AS ids, count(*) AS count FROM (
       SELECT id FROM document WHERE organization_id = @organizationId AND state = 'ready'
       LIMIT ${documentsMax + 1})`,
  );
  const begin = database.prepare('BEGIN');
  const commit = database.prepare('COMMIT');
  const cache = new KeptObjects(bytesMax);
  /** The numbers of the documents that were compared in this transaction; undefined without a cache. */
  const compared = new Map<string, number | undefined>();
  let lastNumber = 0;

  function keep<Value extends object>(name: string, value: Value): Value {
    return cache.keep(name, value, valueMemory + name.length + JSON.stringify(value).length);
  }

  /** The number under which everything is kept that was read from the organization's current documents. */
  function numberOf(organizationId: string): number | undefined {
    const { ids, count } = list.get({ organizationId })!;
    if (count > documentsMax) return undefined;
    const known = cache.peek<{ ids: string | null; number: number }>(organizationId);
    if (known?.ids === ids) return known.number;
    lastNumber += 1;
    return keep(organizationId, { ids, number: lastNumber }).number;
  }

  function start(): void {
    if (database.inTransaction) return;
    begin.run();
    compared.clear();
    atEndOfTurn(end);
  }

  function end(): void {
    // After an I/O error, SQLite has ended it already.
    if (database.inTransaction) commit.run();
  }

  return (organizationId, search) => {
    start();
    if (!compared.has(organizationId)) compared.set(organizationId, numberOf(organizationId));
    const number = compared.get(organizationId);
    return search((name, read) => {
      if (number === undefined) return read();
      const numbered = `${number} ${name}`;
      return cache.peek<ReturnType<typeof read>>(numbered) ?? keep(numbered, read());
    });
  };
}
