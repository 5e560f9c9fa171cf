import Sqlite from 'better-sqlite3';
import type { FoundPassage } from '../../domain/document.ts';
import type { DocumentId } from '../../domain/id.ts';
import { accountKey } from '../listings.ts';
import { documents, scoped } from '../sql/documents.ts';
import type { Documents, PassageNumber } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { sqlitePassageIndex } from './document-writer.ts';
import { sqliteTransactions } from './transactions.ts';

type Passages = Pick<Documents, 'findPassages' | 'readPassages' | 'outlineDocuments'>;

interface PassageRow {
  number: PassageNumber;
  storedId: DocumentId;
  heading: string;
  text: string;
}

interface CorpusRow {
  number: number;
  passages: number;
}

type Source = Pick<FoundPassage, 'documentId' | 'name' | 'title' | 'url'>;

export function sqliteDocuments(database: Database, commits: CommitQueue): Documents {
  return {
    ...documents(sqliteTransactions(database, commits), sqlitePassageIndex(database, commits)),
    ...sqlitePassages(database),
  };
}

/** Opens a read-only connection, for a thread that searches outside of the event loop. The store must be open. */
export function openPassages(file: string): Passages {
  return sqlitePassages(new Sqlite(file, { readonly: true, fileMustExist: true }));
}

/** What a search reads. Each call is one transaction: SQLite locks the file once, not once per term. */
function sqlitePassages(database: Database): Passages {
  const knownDocuments = new KnownDocuments(database);
  const findCorpus = database.prepare<[object], CorpusRow>(
    'SELECT number, passages FROM corpus WHERE organization_id = @organizationId AND account_key = @key',
  );
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
  const readPassage = database.prepare<[object], PassageRow>(
    `SELECT number, document_id AS storedId, heading, text FROM passage
     WHERE number = @number AND organization_id = @organizationId`,
  );
  const readSource = database.prepare<[object], Source>(
    `SELECT coalesce(kept_id, id) AS documentId, name, title, url FROM document
     WHERE organization_id = @organizationId AND id = @storedId AND state = 'ready'`,
  );
  const outlined = database.prepare<[object], { id: DocumentId; title: string; opening: string }>(
    `SELECT id, title, coalesce((SELECT text FROM passage
       WHERE passage.organization_id = document.organization_id AND document_id = id ORDER BY number LIMIT 1), '') AS opening
     FROM document
     WHERE organization_id = @organizationId AND account_key IN (@general, @own) AND state = 'ready'
     ORDER BY name LIMIT @documents`,
  );
  const headingsOf = database
    .prepare<[object], string>(
      `SELECT heading FROM passage WHERE organization_id = @organizationId AND document_id = @id AND heading <> ''
       GROUP BY heading ORDER BY min(number) LIMIT @headings`,
    )
    .pluck();

  const outlineDocuments = database.transaction(
    (
      organizationId: string,
      accountId: string | null,
      { documents, headings }: Parameters<Passages['outlineDocuments']>[2],
    ) =>
      outlined
        .all({ organizationId, general: accountKey(null), own: accountKey(accountId), documents })
        .map(({ id, ...rest }) => ({ ...rest, headings: headingsOf.all({ organizationId, id, headings }) })),
  );

  function findUnknown(
    organizationId: string,
    accountId: string | null,
    terms: readonly string[],
    limit: number,
  ) {
    const keys = accountId === null ? [accountKey(null)] : [accountKey(null), accountKey(accountId)];
    const corpora = keys
      .map((key) => findCorpus.get({ organizationId, key }))
      .filter((corpus) => corpus !== undefined);
    const passageCount = corpora.reduce((sum, { passages }) => sum + passages, 0);
    if (passageCount === 0) return { passageCount, holders: terms.map((): PassageNumber[] => []) };
    // The index also has the passages of documents that are being written or removed. There are seldom any.
    const hidden = new Set(hiddenNumbers.all({ organizationId }));
    const holders = terms.map((term) => {
      const anyCorpus = corpora.map(({ number }) => `(${allOf(number, term)})`).join(' OR ');
      const found = holdersOf.all({ anyCorpus, limit: limit + hidden.size });
      return hidden.size === 0 ? found : found.filter((number) => !hidden.has(number)).slice(0, limit);
    });
    return { passageCount, holders };
  }

  const findPassages = database.transaction(
    (organizationId: string, accountId: string | null, terms: readonly string[], limit: number) => {
      const known = knownDocuments.of(organizationId);
      const account = accountKey(accountId);
      const keyOf = (term: string) => `${limit} ${term} ${account}`;
      const unknown = terms.filter((term) => !known.holders.has(keyOf(term)));
      if (unknown.length > 0 || !known.passageCounts.has(account)) {
        const found = findUnknown(organizationId, accountId, unknown, limit);
        known.passageCounts.set(account, found.passageCount);
        for (const [at, term] of unknown.entries()) {
          const holders = found.holders[at]!;
          known.holders.set(keyOf(term), holders);
          knownDocuments.grew(200 + account.length + 8 * holders.length);
        }
      }
      const holders = terms.map((term) => known.holders.get(keyOf(term))!);
      return { passageCount: known.passageCounts.get(account)!, holders };
    },
  );

  const readPassages = database.transaction((organizationId: string, passages: readonly PassageNumber[]) => {
    const known = knownDocuments.of(organizationId);
    const sources = new Map<DocumentId, Source | undefined>();
    for (const wanted of passages) {
      if (known.passages.has(wanted)) continue;
      const row = readPassage.get({ number: wanted, organizationId });
      if (row === undefined) continue;
      const { number, storedId, heading, text } = row;
      if (!sources.has(storedId)) sources.set(storedId, readSource.get({ organizationId, storedId }));
      const source = sources.get(storedId);
      if (source === undefined) continue;
      known.passages.set(number, { number, ...source, heading, text });
      knownDocuments.grew(500 + heading.length + text.length);
    }
    return passages.flatMap((number) => known.passages.get(number) ?? []);
  });

  return {
    outlineDocuments: async (...args) => outlineDocuments(...args),
    findPassages: async (...args) => findPassages(...args),
    readPassages: async (...args) => readPassages(...args),
  };
}

function allOf(corpus: number, terms: string): string {
  return terms
    .split(' ')
    .map((term) => `"${scoped(corpus, term)}"`)
    .join(' AND ');
}

/** What searches have read of the documents of one organization. */
export interface Known {
  /** By account key. */
  readonly passageCounts: Map<string, number>;
  /** By account key, limit and term. */
  readonly holders: Map<string, PassageNumber[]>;
  readonly passages: Map<PassageNumber, FoundPassage & { number: PassageNumber }>;
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
 * changes. To be used within the transaction that reads what is not known yet.
 */
class KnownDocuments {
  readonly #list;
  readonly #known = new Map<string, Known & { documents: string | null }>();
  #bytes = 0;

  constructor(database: Database) {
    this.#list = database.prepare<[object], Listed>(
      `SELECT group_concat(id) AS documents, count(*) AS count FROM (
         SELECT id FROM document WHERE organization_id = @organizationId AND state = 'ready'
         LIMIT ${documentsMax + 1})`,
    );
  }

  of(organizationId: string): Known {
    const { documents, count } = this.#list.get({ organizationId })!;
    const known = this.#known.get(organizationId);
    if (known?.documents === documents && count <= documentsMax) return known;
    const fresh = { documents, passageCounts: new Map(), holders: new Map(), passages: new Map() };
    if (count <= documentsMax) this.#known.set(organizationId, fresh);
    else this.#known.delete(organizationId);
    return fresh;
  }

  /** To be called when something was added. */
  grew(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < bytesMax) return;
    this.#known.clear();
    this.#bytes = 0;
  }
}
