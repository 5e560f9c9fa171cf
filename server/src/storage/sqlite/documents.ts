import Sqlite from 'better-sqlite3';
import type { OrganizationId } from '../../domain/id.ts';
import { accountKey } from '../listings.ts';
import { documents, type PassageIndex, passagesPerCommit, scopedTerms } from '../sql/documents.ts';
import {
  corporaOf,
  outlineDocuments,
  passageCountOf,
  passageQuery,
  type ReadPassage,
  readPassages,
} from '../sql/passages.ts';
import { statement } from '../sql/sql.ts';
import type { Transactions } from '../sql/work.ts';
import type { Documents, PassageNumber } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { CommitClock } from './store-time.ts';
import { pagesPerMergeStep, prepareMergeStep, queryDialect } from './thread-search.ts';
import { workRunner } from './transactions.ts';

type Passages = Pick<Documents, 'findPassages' | 'readPassages' | 'outlineDocuments'>;

export function sqliteDocuments(
  database: Database,
  commits: CommitQueue,
  transactions: Transactions,
): Documents {
  return {
    ...documents(transactions, sqlitePassageIndex(database, commits)),
    ...sqlitePassages(database),
  };
}

/** Opens a read-only connection, for a thread that searches outside of the event loop. The store must be open. */
export function openPassages(file: string): Passages {
  return sqlitePassages(new Sqlite(file, { readonly: true, fileMustExist: true }));
}

/** What a search reads. A call is one transaction: SQLite locks the file once, not once per term. */
function sqlitePassages(database: Database): Passages {
  const knownDocuments = new KnownDocuments(database);
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

  function findUnknown(
    organizationId: OrganizationId,
    accountId: string | null,
    terms: readonly string[],
    limit: number,
  ) {
    const corpora = runWork(corporaOf(organizationId, accountId));
    const passageCount = passageCountOf(corpora);
    if (passageCount === 0) return { passageCount, holders: terms.map((): PassageNumber[] => []) };
    // The index also has the passages of documents that are being written or removed. There are seldom any.
    const hidden = new Set(hiddenNumbers.all({ organizationId }));
    const holders = terms.map((term) => {
      const anyCorpus = passageQuery(corpora, term, queryDialect);
      const found = holdersOf.all({ anyCorpus, limit: limit + hidden.size });
      return hidden.size === 0 ? found : found.filter((number) => !hidden.has(number)).slice(0, limit);
    });
    return { passageCount, holders };
  }

  return {
    outlineDocuments: async (...asked) => runWork(outlineDocuments(...asked)),

    findPassages: async (organizationId, accountId, terms, limit) => {
      const account = accountKey(accountId);
      const keyOf = (term: string) => `${limit} ${term} ${account}`;
      const known = knownDocuments.of(organizationId, (cached) => {
        const unknown = terms.filter((term) => !cached.holders.has(keyOf(term)));
        if (unknown.length === 0 && cached.passageCounts.has(account)) return;
        const found = findUnknown(organizationId, accountId, unknown, limit);
        cached.passageCounts.set(account, found.passageCount);
        for (const [at, term] of unknown.entries()) {
          const holders = found.holders[at]!;
          cached.holders.set(keyOf(term), holders);
          knownDocuments.grew(200 + account.length + 8 * holders.length);
        }
      });
      const holders = terms.map((term) => known.holders.get(keyOf(term))!);
      return { passageCount: known.passageCounts.get(account)!, holders };
    },

    readPassages: async (organizationId, passages) => {
      const known = knownDocuments.of(organizationId, (cached) => {
        const unknown = passages.filter((number) => !cached.passages.has(number));
        for (const passage of runWork(readPassages(organizationId, unknown))) {
          cached.passages.set(passage.number, passage);
          knownDocuments.grew(500 + passage.heading.length + passage.text.length);
        }
      });
      return passages.flatMap((number) => known.passages.get(number) ?? []);
    },
  };
}

/** After each part the index of terms is merged in at most this many steps, each in a commit of its own. */
const mergeStepsMax = 4;

const lockDocuments = statement('lock-documents')`SELECT id FROM organization WHERE id = :organizationId`;
const growCorpus = statement('grow-corpus')`
  INSERT INTO corpus (organization_id, account_key, passages) VALUES (:organizationId, :accountKey, :passages)
  ON CONFLICT DO UPDATE SET passages = passages + excluded.passages RETURNING number`;

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
  const mergeStep = prepareMergeStep(database, 'passage_term');

  /** Runs one part at a time for all callers: writes of one turn share a commit, and many parts would make it long. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(write: (clock: CommitClock) => T): Promise<T> {
    const next = last.then(() => commits.unsynced(write));
    last = next.catch(() => {});
    return next;
  }

  /** The index does not merge by itself (001-initial.sql), because that would take too long in one commit. */
  async function mergeIndex(): Promise<void> {
    for (let step = 0; step < mergeStepsMax; step += 1) {
      if (!(await inTurn(() => mergeStep(pagesPerMergeStep)))) return;
    }
  }

  return {
    lockDocuments,
    growCorpus,

    async writePart(organizationId, id, corpus, part) {
      const written = await inTurn((clock) => {
        if (touchDocument.run({ organizationId, id, now: clock.now() }).changes === 0) return false;
        for (const { heading, text, terms } of part) {
          const { lastInsertRowid: number } = insertPassage.run({ organizationId, id, heading, text });
          insertTerms.run({ number, terms: scopedTerms(corpus, terms) });
        }
        return true;
      });
      await mergeIndex();
      return written;
    },

    async removePart(organizationId, id) {
      const removed = await inTurn(() => deletePassages.run({ organizationId, id }).changes);
      await mergeIndex();
      return removed;
    },
  };
}

/** What searches have read of the documents of one organization. */
interface Known {
  readonly documents: string | null;
  /** By account key. */
  readonly passageCounts: Map<string, number>;
  /** By account key, limit and term. */
  readonly holders: Map<string, PassageNumber[]>;
  readonly passages: Map<PassageNumber, ReadPassage>;
}

interface Listed {
  readonly documents: string | null;
  readonly count: number;
}

/** An organization with more documents has no cache: comparing them would take longer than it saves. */
const documentsMax = 200;
/** Of all organizations together, approximately. */
const bytesMax = 16_000_000;

/**
 * Caches what searches read, per organization, as long as it has the same documents: a document that is ready never
 * changes.
 */
class KnownDocuments {
  readonly #list;
  readonly #inTransaction;
  readonly #known = new Map<string, Known>();
  #bytes = 0;

  constructor(database: Database) {
    this.#inTransaction = database.transaction((read: () => Known) => read());
    this.#list = database.prepare<[object], Listed>(
      `SELECT group_concat(id) AS documents, count(*) AS count FROM (
         SELECT id FROM document WHERE organization_id = @organizationId AND state = 'ready'
         LIMIT ${documentsMax + 1})`,
    );
  }

  /**
   * What is known of the organization's documents, after `fill` has added what is missing. It reads in the transaction
   * that compares the documents, so that nothing of a newer one is kept with the older.
   */
  of(organizationId: string, fill: (known: Known) => void): Known {
    return this.#inTransaction(() => {
      const known = this.#compare(organizationId);
      fill(known);
      return known;
    });
  }

  #compare(organizationId: string): Known {
    const { documents, count } = this.#list.get({ organizationId })!;
    const before = this.#known.get(organizationId);
    const known =
      before?.documents === documents
        ? before
        : { documents, passageCounts: new Map(), holders: new Map(), passages: new Map() };
    if (count > documentsMax) this.#known.delete(organizationId);
    else this.#known.set(organizationId, known);
    return known;
  }

  grew(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < bytesMax) return;
    this.#known.clear();
    this.#bytes = 0;
  }
}
