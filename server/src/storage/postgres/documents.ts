import type pg from 'pg';
import type { Document, DocumentOutline } from '../../domain/document.ts';
import type { DocumentId } from '../../domain/id.ts';
import { accountKey, accountOfKey } from '../account-key.ts';
import type { Documents, PassageNumber } from '../store.ts';
import type { Database } from './database.ts';
import { postgresDocumentWriter, scoped } from './document-writer.ts';

interface DocumentRow {
  id: DocumentId;
  account_key: string;
  name: string;
  title: string;
  url: string | null;
  passages: number;
  bytes: number;
  added_at: number;
}

interface PassageRow {
  number: PassageNumber;
  document_id: DocumentId;
  heading: string;
  text: string;
}

interface SourceRow {
  id: DocumentId;
  known_id: DocumentId;
  name: string;
  title: string;
  url: string | null;
}

const selectDocuments = `SELECT coalesce(kept_id, id) AS id, account_key, name, title, url, passages, bytes, added_at
    FROM document WHERE organization_id = $1 AND state = 'ready'`;
const list = { name: 'list-documents', text: `${selectDocuments} ORDER BY name, account_key` };
const find = { name: 'find-document', text: `${selectDocuments} AND coalesce(kept_id, id) = $2` };
const findCorpora = {
  name: 'find-corpora',
  text: 'SELECT number, passages FROM corpus WHERE organization_id = $1 AND account_key = ANY($2::text[])',
};
const findHolders = {
  name: 'find-holders',
  text: `SELECT place, passage.number FROM unnest($2::text[]) WITH ORDINALITY AS asked (query, place)
    CROSS JOIN LATERAL (
      SELECT number FROM passage WHERE organization_id = $1 AND terms @@ query::tsquery
        AND document_id <> ALL (ARRAY(
          SELECT id FROM document WHERE organization_id = $1 AND state <> 'ready')) LIMIT $3) AS passage`,
};
const readAll = {
  name: 'read-passages',
  text: `SELECT number, document_id, heading, text
    FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (wanted, place)
    JOIN passage ON passage.organization_id = $1 AND number = wanted ORDER BY place`,
};
const readSources = {
  name: 'read-sources',
  text: `SELECT id, coalesce(kept_id, id) AS known_id, name, title, url FROM document
    WHERE organization_id = $1 AND id = ANY ($2::text[]) AND state = 'ready'`,
};
const outline = {
  name: 'outline-documents',
  text: `SELECT title, ARRAY(
      SELECT heading FROM passage
      WHERE passage.organization_id = $1 AND document_id = document.id AND heading <> ''
      GROUP BY heading ORDER BY min(number) LIMIT $4) AS headings,
      coalesce((SELECT text FROM passage
        WHERE passage.organization_id = $1 AND document_id = document.id ORDER BY number LIMIT 1), '') AS opening
    FROM document WHERE organization_id = $1 AND account_key = ANY ($2::text[]) AND state = 'ready'
    ORDER BY name LIMIT $3`,
};

export function postgresDocuments(database: Database): Documents {
  const { run } = database;

  return {
    ...postgresDocumentWriter(database),

    listDocuments: async (organizationId) => (await run<DocumentRow>(list, [organizationId])).map(toDocument),

    async findDocument(organizationId, documentId) {
      const [row] = await run<DocumentRow>(find, [organizationId, documentId]);
      return row && toDocument(row);
    },

    outlineDocuments(organizationId, accountId, { documents, headings }) {
      const keys = [accountKey(null), accountKey(accountId)];
      return run<DocumentOutline & pg.QueryResultRow>(outline, [organizationId, keys, documents, headings]);
    },

    async findPassages(organizationId, accountId, terms, limit) {
      const keys = accountId === null ? [accountKey(null)] : [accountKey(null), accountKey(accountId)];
      const corpora = await run<{ number: number; passages: number }>(findCorpora, [organizationId, keys]);
      const passageCount = corpora.reduce((sum, { passages }) => sum + passages, 0);
      const holders: PassageNumber[][] = terms.map(() => []);
      if (passageCount === 0 || terms.length === 0) return { passageCount, holders };
      const numbers = corpora.map(({ number }) => number);
      const values = [organizationId, terms.map((term) => queryFor(numbers, term)), limit];
      const found = await run<{ place: number; number: PassageNumber }>(findHolders, values);
      for (const { place, number } of found) holders[place - 1]!.push(number);
      return { passageCount, holders };
    },

    async readPassages(organizationId, passages) {
      const rows = await run<PassageRow>(readAll, [organizationId, passages]);
      const ids = [...new Set(rows.map(({ document_id }) => document_id))];
      const found = ids.length === 0 ? [] : await run<SourceRow>(readSources, [organizationId, ids]);
      const sources = new Map(found.map((source) => [source.id, source]));
      return rows.flatMap(({ number, document_id, heading, text }) => {
        const source = sources.get(document_id);
        if (source === undefined) return [];
        const { known_id: documentId, name, title, url } = source;
        return [{ number, documentId, name, title, url, heading, text }];
      });
    },
  };
}

/** Terms are letters and digits: nothing in them could end the quotes. */
function queryFor(corpora: readonly number[], terms: string): string {
  const allOf = (corpus: number) =>
    terms
      .split(' ')
      .map((term) => `'${scoped(corpus, term)}'`)
      .join(' & ');
  return corpora.map((corpus) => `(${allOf(corpus)})`).join(' | ');
}

function toDocument(row: DocumentRow): Document {
  const { id, name, title, url, passages: passageCount, bytes, added_at: addedAt } = row;
  return { id, accountId: accountOfKey(row.account_key), name, title, url, passageCount, bytes, addedAt };
}
