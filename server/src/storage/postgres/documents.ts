import type { Document } from '../../domain/document.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';
import { accountKey, accountOfKey } from '../account-key.ts';
import { replacing } from '../audit-row.ts';
import type { Documents, NewDocument, PassageNumber } from '../store.ts';
import { writeNote } from './audit.ts';
import type { Database, Run } from './database.ts';
import { now } from './store-time.ts';

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

// Whoever changes the documents of an organization waits for whoever does so now: names stay unique, counts right. Not by
// the organization's row: creates must not wait for a large document.
const gate = {
  name: 'lock-documents',
  text: `SELECT id, pg_advisory_xact_lock(hashtextextended('skein documents ' || id, 0)) FROM organization WHERE id = $1`,
};
const findByName = {
  name: 'find-document-by-name',
  text: 'SELECT id FROM document WHERE organization_id = $1 AND account_key = $2 AND name = $3',
};
const insertDocument = {
  name: 'insert-document',
  text: `INSERT INTO document (organization_id, id, account_key, name, title, url, passages, added_at)
    VALUES ($3, $4, $5, $6, $7, $8, $9, ${now}) RETURNING added_at`,
};
const deletePassages = {
  name: 'delete-passages',
  text: 'DELETE FROM passage WHERE organization_id = $1 AND document_id = $2',
};
const deleteDocument = {
  name: 'delete-document',
  text: 'DELETE FROM document WHERE organization_id = $1 AND id = $2 RETURNING account_key, passages',
};
const insertPassages = {
  name: 'insert-passages',
  text: `INSERT INTO passage (organization_id, number, document_id, heading, text, terms)
    SELECT $1, nextval('passage_number'), $2, heading, passage, array_to_tsvector(string_to_array(terms, ' '))
    FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS part (heading, passage, terms, place)
    ORDER BY place`,
};
const growCorpus = {
  name: 'grow-corpus',
  text: `INSERT INTO corpus (organization_id, account_key, number, passages)
    VALUES ($1, $2, nextval('corpus_number'), $3)
    ON CONFLICT (organization_id, account_key) DO UPDATE SET passages = corpus.passages + excluded.passages
    RETURNING number`,
};
const list = {
  name: 'list-documents',
  text: `SELECT id, account_key, name, title, url, passages, added_at FROM document
    WHERE organization_id = $1 ORDER BY name, account_key`,
};
const findCorpora = {
  name: 'find-corpora',
  text: 'SELECT number, passages FROM corpus WHERE organization_id = $1 AND account_key = ANY($2::text[])',
};
const findHolders = {
  name: 'find-holders',
  text: `SELECT place, passage.number FROM unnest($2::text[]) WITH ORDINALITY AS asked (query, place)
    CROSS JOIN LATERAL (
      SELECT number FROM passage WHERE organization_id = $1 AND terms @@ query::tsquery LIMIT $3) AS passage`,
};
const readAll = {
  name: 'read-passages',
  text: `SELECT number, document_id, title, url, heading, text
    FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (wanted, place)
    JOIN passage ON passage.organization_id = $1 AND number = wanted
    JOIN document ON document.organization_id = $1 AND id = document_id ORDER BY place`,
};

export function postgresDocuments(database: Database): Documents {
  const { run, time } = database;

  async function insert(runHere: Run, organizationId: OrganizationId, document: NewDocument, id: DocumentId) {
    const { name, title, url, passages } = document;
    const key = accountKey(document.accountId);
    const values = [organizationId, id, key, name, title, url, passages.length];
    await runHere(insertDocument, [...time.parameters(), ...values]);
    const [corpus] = await runHere<{ number: number }>(growCorpus, [organizationId, key, passages.length]);
    await runHere(insertPassages, [
      organizationId,
      id,
      passages.map(({ heading }) => heading),
      passages.map(({ text }) => text),
      passages.map(({ terms }) => terms.map((term) => scoped(corpus!.number, term)).join(' ')),
    ]);
  }

  async function remove(runHere: Run, organizationId: OrganizationId, id: DocumentId): Promise<boolean> {
    await runHere(deletePassages, [organizationId, id]);
    const [gone] = await runHere<{ account_key: string; passages: number }>(deleteDocument, [
      organizationId,
      id,
    ]);
    if (gone === undefined) return false;
    await runHere(growCorpus, [organizationId, gone.account_key, -gone.passages]);
    return true;
  }

  return {
    putDocument: (organizationId, document, note) =>
      database.transaction(async (runHere) => {
        if ((await runHere(gate, [organizationId])).length === 0) return { outcome: 'organization-missing' };
        const names = [organizationId, accountKey(document.accountId), document.name];
        const [known] = await runHere<{ id: DocumentId }>(findByName, names);
        if (known !== undefined) await remove(runHere, organizationId, known.id);
        await insert(runHere, organizationId, document, known?.id ?? document.id);
        const told = known === undefined ? note : replacing(note, known.id);
        await writeNote(runHere, time, organizationId, told);
        return known === undefined
          ? { outcome: 'added', id: document.id }
          : { outcome: 'replaced', id: known.id };
      }),

    removeDocument: (organizationId, documentId, note) =>
      database.transaction(async (runHere) => {
        await runHere(gate, [organizationId]);
        if (!(await remove(runHere, organizationId, documentId))) return 'missing';
        await writeNote(runHere, time, organizationId, note);
        return 'removed';
      }),

    listDocuments: async (organizationId) => (await run<DocumentRow>(list, [organizationId])).map(toDocument),

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
      return rows.map(({ document_id, ...row }) => ({ ...row, documentId: document_id }));
    },
  };
}

/** The dot belongs to no term, so that one corpus's terms are never another's. */
export function scoped(corpus: number, term: string): string {
  return `${corpus}·${term}`;
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
  const { id, name, title, url, passages: passageCount, added_at: addedAt } = row;
  return { id, accountId: accountOfKey(row.account_key), name, title, url, passageCount, addedAt };
}
