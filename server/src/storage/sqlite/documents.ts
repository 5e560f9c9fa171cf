import type { Document, FoundPassage } from '../../domain/document.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';
import { accountKey, accountOfKey } from '../account-key.ts';
import { replacing } from '../audit-row.ts';
import type { Documents, NewDocument, PassageNumber } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

interface DocumentRow {
  id: DocumentId;
  account_key: string;
  name: string;
  title: string;
  url: string | null;
  passages: number;
  added_at: number;
}

interface PassageRow {
  number: PassageNumber;
  document_id: DocumentId;
  title: string;
  url: string | null;
  heading: string;
  text: string;
}

interface CorpusRow {
  number: number;
  passages: number;
}

export function sqliteDocuments(database: Database, commits: CommitQueue): Documents {
  const writeNote = auditWriter(database);
  const findOrganization = database.prepare<[string]>('SELECT 1 FROM organization WHERE id = ?');
  const findByName = database
    .prepare<[string, string, string], DocumentId>(
      'SELECT id FROM document WHERE organization_id = ? AND account_key = ? AND name = ?',
    )
    .pluck();
  const insertDocument = database.prepare(
    `INSERT INTO document (organization_id, id, account_key, name, title, url, passages, added_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const deleteDocument = database
    .prepare<[string, string], string>(
      'DELETE FROM document WHERE organization_id = ? AND id = ? RETURNING account_key',
    )
    .pluck();
  const insertPassage = database.prepare<[string, string, string, string]>(
    'INSERT INTO passage (organization_id, document_id, heading, text) VALUES (?, ?, ?, ?)',
  );
  const numbersOf = database
    .prepare<[string, string], number>(
      'SELECT number FROM passage WHERE organization_id = ? AND document_id = ?',
    )
    .pluck();
  const deletePassage = database.prepare<[number]>('DELETE FROM passage WHERE number = ?');
  const insertTerms = database.prepare<[number | bigint, string]>(
    'INSERT INTO passage_term (rowid, terms) VALUES (?, ?)',
  );
  const deleteTerms = database.prepare<[number]>('DELETE FROM passage_term WHERE rowid = ?');
  const growCorpus = database
    .prepare<[string, string, number], number>(
      `INSERT INTO corpus (organization_id, account_key, passages) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET passages = passages + excluded.passages RETURNING number`,
    )
    .pluck();
  const list = database.prepare<[string], DocumentRow>(
    `SELECT id, account_key, name, title, url, passages, added_at FROM document
     WHERE organization_id = ? ORDER BY name, account_key`,
  );
  const findCorpus = database.prepare<[string, string], CorpusRow>(
    'SELECT number, passages FROM corpus WHERE organization_id = ? AND account_key = ?',
  );
  const holdersOf = database
    .prepare<[string, number], PassageNumber>(
      'SELECT rowid FROM passage_term WHERE passage_term MATCH ? LIMIT ? + 0',
    )
    .pluck();
  const readPassage = database.prepare<[number, string], PassageRow>(
    `SELECT number, document_id, title, url, heading, text
     FROM passage JOIN document ON document.organization_id = passage.organization_id AND id = document_id
     WHERE number = ? AND passage.organization_id = ?`,
  );

  function insert(organizationId: OrganizationId, document: NewDocument, id: DocumentId, now: number): void {
    const { name, title, url, passages } = document;
    const key = accountKey(document.accountId);
    insertDocument.run(organizationId, id, key, name, title, url, passages.length, now);
    const corpus = growCorpus.get(organizationId, key, passages.length)!;
    for (const { heading, text, terms } of passages) {
      const { lastInsertRowid } = insertPassage.run(organizationId, id, heading, text);
      insertTerms.run(lastInsertRowid, terms.map((term) => scoped(corpus, term)).join(' '));
    }
  }

  function remove(organizationId: OrganizationId, id: DocumentId): boolean {
    const numbers = numbersOf.all(organizationId, id);
    for (const number of numbers) {
      deleteTerms.run(number);
      deletePassage.run(number);
    }
    const key = deleteDocument.get(organizationId, id);
    if (key === undefined) return false;
    growCorpus.get(organizationId, key, -numbers.length);
    return true;
  }

  return {
    putDocument: (organizationId, document, note) =>
      commits.durable((clock) => {
        if (findOrganization.get(organizationId) === undefined) return { outcome: 'organization-missing' };
        const known = findByName.get(organizationId, accountKey(document.accountId), document.name);
        if (known !== undefined) remove(organizationId, known);
        insert(organizationId, document, known ?? document.id, clock.now());
        writeNote(organizationId, known === undefined ? note : replacing(note, known), clock.now());
        return known === undefined
          ? { outcome: 'added', id: document.id }
          : { outcome: 'replaced', id: known };
      }),

    removeDocument: (organizationId, documentId, note) =>
      commits.durable((clock) => {
        if (!remove(organizationId, documentId)) return 'missing';
        writeNote(organizationId, note, clock.now());
        return 'removed';
      }),

    listDocuments: async (organizationId) => list.all(organizationId).map(toDocument),

    async findPassages(organizationId, accountId, terms, limit) {
      const keys = accountId === null ? [accountKey(null)] : [accountKey(null), accountKey(accountId)];
      const corpora = keys
        .map((key) => findCorpus.get(organizationId, key))
        .filter((corpus) => corpus !== undefined);
      const passageCount = corpora.reduce((sum, { passages }) => sum + passages, 0);
      if (passageCount === 0) return { passageCount, holders: terms.map(() => []) };
      const holders = terms.map((term) => {
        const anyCorpus = corpora.map(({ number }) => `(${allOf(number, term)})`).join(' OR ');
        return holdersOf.all(anyCorpus, limit);
      });
      return { passageCount, holders };
    },

    async readPassages(organizationId, passages) {
      const rows = passages.map((number) => readPassage.get(number, organizationId));
      return rows.filter((row) => row !== undefined).map(toPassage);
    },
  };
}

function allOf(corpus: number, terms: string): string {
  return terms
    .split(' ')
    .map((term) => `"${scoped(corpus, term)}"`)
    .join(' AND ');
}

/** The dot belongs to no term, so that one corpus's terms are never another's. */
export function scoped(corpus: number, term: string): string {
  return `${corpus}·${term}`;
}

function toDocument(row: DocumentRow): Document {
  const { id, name, title, url, passages: passageCount, added_at: addedAt } = row;
  return { id, accountId: accountOfKey(row.account_key), name, title, url, passageCount, addedAt };
}

function toPassage(row: PassageRow): FoundPassage & { number: PassageNumber } {
  const { number, document_id: documentId, title, url, heading, text } = row;
  return { number, documentId, title, url, heading, text };
}
