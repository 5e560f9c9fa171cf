import Sqlite from 'better-sqlite3';
import { FairQueue } from '../../../../runtime/src/pure/fair-queue.ts';
import { SearchCache } from '../cache/search-cache.ts';
import type { Documents, PassageNumber } from '../port/store.ts';
import { documents, type PassageIndex, scopedTerms } from '../sql/documents.ts';
import { countPassages, outlineDocuments, passageQuery, readCorpora, readPassages } from '../sql/passages.ts';
import { sqliteStatement } from '../sql/sql.ts';
import { count, run, type Transactions } from '../sql/work.ts';
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
  ...sqlitePassages(database, (search) => database.transaction(search)(), new SearchCache(0)),
});

/** For a thread that searches outside of the event loop. All reads of one turn see the documents as of its start. */
export function openPassages(file: string): Passages {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true });
  return sqlitePassages(database, transactionOfTurn(database), new SearchCache());
}

const findHolders = sqliteStatement('find-holders')`
  SELECT rowid FROM passage_term WHERE passage_term MATCH :anyCorpus LIMIT :limit + 0`;
const listHidden = sqliteStatement('list-hidden-passages')`
  SELECT number FROM passage WHERE organization_id = :organizationId AND document_id IN (
    SELECT id FROM document WHERE organization_id = :organizationId AND state <> 'ready')`;

type InTransaction = <T>(search: () => T) => T;

/** A call is one transaction, or part of its turn's; either way SQLite locks the file once, not per term. */
function sqlitePassages(database: Database, inTransaction: InTransaction, cache: SearchCache): Passages {
  const runWork = workRunner(database, { now: Date.now });
  const holdingNumbers = database.prepare<[object], PassageNumber>(findHolders.sql).pluck();
  const hiddenNumbers = database.prepare<[object], PassageNumber>(listHidden.sql).pluck();

  return {
    // Not cached: example questions are added to a document that is ready.
    outlineDocuments: async (...asked) => inTransaction(() => runWork(outlineDocuments(...asked))),

    findPassages: async (organizationId, accountId, terms, limit) =>
      inTransaction(() => {
        const corpora = runWork(readCorpora(organizationId, accountId));
        const passageCount = countPassages(corpora);
        if (passageCount === 0) return { passageCount, holders: terms.map(() => []) };
        let hidden: ReadonlySet<PassageNumber> | undefined;
        const find = (term: string) => {
          // The index also has the passages of documents that are being written or removed. There are rarely any.
          hidden ??= new Set(hiddenNumbers.all({ organizationId }));
          const anyCorpus = passageQuery(corpora, term, queryDialect);
          const found = holdingNumbers.all({ anyCorpus, limit: limit + hidden.size });
          return found.filter((number) => !hidden!.has(number)).slice(0, limit);
        };
        const { findOrRead } = cache.of(corpora);
        return {
          passageCount,
          holders: terms.map((term) => findOrRead(`${limit} ${term}`, () => find(term))),
        };
      }),

    readPassages: async (organizationId, accountId, passages) =>
      inTransaction(() => {
        const { findOrRead } = cache.of(runWork(readCorpora(organizationId, accountId)));
        return passages.flatMap((number) =>
          findOrRead(`passage ${number}`, () => runWork(readPassages(organizationId, accountId, [number]))),
        );
      }),
  };
}

const lockDocuments = sqliteStatement(
  'lock-documents',
)`SELECT id FROM organization WHERE id = :organizationId`;
const touchDocument = sqliteStatement('touch-document')`
  UPDATE document SET added_at = :now WHERE organization_id = :organizationId AND id = :id AND state = 'writing'
  RETURNING id`;
const insertPassage = sqliteStatement('insert-passage')`
  INSERT INTO passage (organization_id, document_id, heading, text) VALUES (:organizationId, :id, :heading, :text)`;
// Of the passage that was just inserted. To return its number would take longer than to insert it.
const insertTerms = sqliteStatement('insert-terms')`
  INSERT INTO passage_term (rowid, terms) VALUES (last_insert_rowid(), :terms)`;

export function sqlitePassageIndex(database: Database, commits: CommitQueue): PassageIndex {
  const runWork = workRunner(database, commits);
  // One part at a time for all callers: writes of one turn share a commit, and many parts would make it long.
  const turns = new FairQueue<'part'>(1);
  const inTurn = <T>(write: (clock: CommitClock) => T) => turns.run('part', () => commits.unsynced(write));
  const mergeTerms = termMerge(database, 'passage_term', inTurn);

  return {
    lockDocuments,

    async commitPart(work) {
      const result = await inTurn((clock) => runWork(work(), clock));
      await mergeTerms();
      return result;
    },

    *insertPassages(organizationId, id, corpus, part) {
      if ((yield* count(touchDocument, { organizationId, id })) === 0) return false;
      for (const { heading, text, terms } of part) {
        yield* run(insertPassage, { organizationId, id, heading, text });
        yield* run(insertTerms, { terms: scopedTerms(corpus, terms) });
      }
      return true;
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
