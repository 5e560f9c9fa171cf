import type { DocumentOutline } from '../../domain/document.ts';
import type { DocumentId } from '../../domain/id.ts';
import { accountKey } from '../listings.ts';
import { documents, type PassageIndex, passagesPerCommit, scoped } from '../sql/documents.ts';
import { statement } from '../sql/sql.ts';
import type { Documents, PassageNumber } from '../store.ts';
import type { Database } from './database.ts';

interface PassageRow {
  number: PassageNumber;
  storedId: DocumentId;
  heading: string;
  text: string;
}

interface SourceRow {
  storedId: DocumentId;
  documentId: DocumentId;
  name: string;
  title: string;
  url: string | null;
}

const findCorpora = statement('find-corpora')`SELECT number, passages FROM corpus
  WHERE organization_id = :organizationId AND account_key = ANY(:accountKeys::text[])`;
const findHolders = statement('find-holders')`
  SELECT place, passage.number FROM unnest(:queries::text[]) WITH ORDINALITY AS asked (query, place)
  CROSS JOIN LATERAL (
    SELECT number FROM passage WHERE organization_id = :organizationId AND terms @@ query::tsquery
      AND document_id <> ALL (ARRAY(
        SELECT id FROM document WHERE organization_id = :organizationId AND state <> 'ready')) LIMIT :limit) AS passage`;
const readPassages = statement('read-passages')`SELECT number, document_id AS "storedId", heading, text
  FROM unnest(:passages::bigint[]) WITH ORDINALITY AS asked (wanted, place)
  JOIN passage ON passage.organization_id = :organizationId AND number = wanted ORDER BY place`;
const readSources = statement('read-sources')`
  SELECT id AS "storedId", coalesce(kept_id, id) AS "documentId", name, title, url FROM document
  WHERE organization_id = :organizationId AND id = ANY (:storedIds::text[]) AND state = 'ready'`;
const outline = statement('outline-documents')`SELECT title, ARRAY(
    SELECT heading FROM passage
    WHERE passage.organization_id = :organizationId AND document_id = document.id AND heading <> ''
    GROUP BY heading ORDER BY min(number) LIMIT :headings) AS headings,
    coalesce((SELECT text FROM passage
      WHERE passage.organization_id = :organizationId AND document_id = document.id ORDER BY number LIMIT 1), '')
      AS opening
  FROM document
  WHERE organization_id = :organizationId AND account_key = ANY (:accountKeys::text[]) AND state = 'ready'
  ORDER BY name LIMIT :documents`;

export function postgresDocuments(database: Database): Documents {
  const { run } = database;

  return {
    ...documents(database, postgresPassageIndex(database)),

    outlineDocuments: (organizationId, accountId, { documents, headings }) =>
      run<DocumentOutline>(outline, { organizationId, accountKeys: keysOf(accountId), documents, headings }),

    async findPassages(organizationId, accountId, terms, limit) {
      const values = { organizationId, accountKeys: keysOf(accountId) };
      const corpora = await run<{ number: number; passages: number }>(findCorpora, values);
      const passageCount = corpora.reduce((sum, { passages }) => sum + passages, 0);
      const holders: PassageNumber[][] = terms.map(() => []);
      if (passageCount === 0 || terms.length === 0) return { passageCount, holders };
      const numbers = corpora.map(({ number }) => number);
      const queries = terms.map((term) => queryFor(numbers, term));
      type Holder = { place: number; number: PassageNumber };
      const found = await run<Holder>(findHolders, { organizationId, queries, limit });
      for (const { place, number } of found) holders[place - 1]!.push(number);
      return { passageCount, holders };
    },

    async readPassages(organizationId, passages) {
      const rows = await run<PassageRow>(readPassages, { organizationId, passages });
      const storedIds = [...new Set(rows.map(({ storedId }) => storedId))];
      const found =
        storedIds.length === 0 ? [] : await run<SourceRow>(readSources, { organizationId, storedIds });
      const sources = new Map(found.map(({ storedId, ...source }) => [storedId, source]));
      return rows.flatMap(({ storedId, ...passage }) => {
        const source = sources.get(storedId);
        return source === undefined ? [] : [{ ...source, ...passage }];
      });
    },
  };
}

/** The corpora that a search covers: the organization's general documents, and those of the account. */
function keysOf(accountId: string | null): string[] {
  return [...new Set([accountKey(null), accountKey(accountId)])];
}

/** Terms consist of letters and digits, so they cannot end the quotes. */
function queryFor(corpora: readonly number[], terms: string): string {
  const allOf = (corpus: number) =>
    terms
      .split(' ')
      .map((term) => `'${scoped(corpus, term)}'`)
      .join(' & ');
  return corpora.map((corpus) => `(${allOf(corpus)})`).join(' | ');
}

// Not the lock of the organization's row, because creating threads must not wait for it.
const lockDocuments = statement('lock-documents')`
  SELECT id, pg_advisory_xact_lock(hashtextextended('skein documents ' || id, 0)) FROM organization
  WHERE id = :organizationId`;
const growCorpus = statement('grow-corpus')`
  INSERT INTO corpus (organization_id, account_key, number, passages)
  VALUES (:organizationId, :accountKey, nextval('corpus_number'), :passages)
  ON CONFLICT (organization_id, account_key) DO UPDATE SET passages = corpus.passages + excluded.passages
  RETURNING number`;
const insertPassages = statement('insert-passages')`WITH held AS (
    UPDATE document SET added_at = :now
    WHERE organization_id = :organizationId AND id = :id AND state = 'writing' RETURNING organization_id, id)
  INSERT INTO passage (organization_id, number, document_id, heading, text, terms)
  SELECT held.organization_id, nextval('passage_number'), held.id, heading, passage,
    array_to_tsvector(string_to_array(terms, ' '))
  FROM held, unnest(:headings::text[], :texts::text[], :terms::text[])
    WITH ORDINALITY AS part (heading, passage, terms, place)
  ORDER BY place RETURNING number`;
const deletePassages = statement('delete-passages')`DELETE FROM passage
  WHERE organization_id = :organizationId AND number IN (
    SELECT number FROM passage WHERE organization_id = :organizationId AND document_id = :id LIMIT ${passagesPerCommit})
  RETURNING number`;

function postgresPassageIndex({ run }: Database): PassageIndex {
  return {
    lockDocuments,
    growCorpus,

    async writePart(organizationId, id, corpus, part) {
      const written = await run(insertPassages, {
        organizationId,
        id,
        headings: part.map(({ heading }) => heading),
        texts: part.map(({ text }) => text),
        terms: part.map(({ terms }) => terms.map((term) => scoped(corpus, term)).join(' ')),
      });
      return written.length === part.length;
    },

    removePart: async (organizationId, id) => (await run(deletePassages, { organizationId, id })).length,
  };
}
