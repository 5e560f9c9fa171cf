import Sqlite from 'better-sqlite3';
import { KeptSearches } from '../kept-searches.ts';
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
  ...sqlitePassages(database, (search) => database.transaction(search)(), new KeptSearches(0)),
});

/** For a thread that searches outside of the event loop. All reads of one turn see the documents as of its start. */
export function openPassages(file: string): Passages {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true });
  return sqlitePassages(database, transactionOfTurn(database), new KeptSearches());
}

type InTransaction = <T>(search: () => T) => T;

/** A call is one transaction, or part of its turn's; either way SQLite locks the file once, not per term. */
function sqlitePassages(database: Database, inTransaction: InTransaction, cache: KeptSearches): Passages {
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
    outlineDocuments: async (...asked) => inTransaction(() => runWork(outlineDocuments(...asked))),

    findPassages: async (organizationId, accountId, terms, limit) =>
      inTransaction(() => {
        const corpora = runWork(corporaOf(organizationId, accountId));
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
        const { once } = cache.of(corpora);
        return { passageCount, holders: terms.map((term) => once(`${limit} ${term}`, () => find(term))) };
      }),

    readPassages: async (organizationId, accountId, passages) =>
      inTransaction(() => {
        const { once } = cache.of(runWork(corporaOf(organizationId, accountId)));
        return passages.flatMap((number) =>
          once(`passage ${number}`, () => runWork(readPassages(organizationId, accountId, [number]))),
        );
      }),
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

function transactionOfTurn(database: Database): InTransaction {
  const begin = database.prepare('BEGIN');
  const commit = database.prepare('COMMIT');

  function end(): void {
    // After an I/O error, SQLite has ended it already.
    if (database.inTransaction) commit.run();
  }

  return (search) => {
    if (!database.inTransaction) {
      begin.run();
      atEndOfTurn(end);
    }
    return search();
  };
}
