import { SearchCache } from '../cache/search-cache.ts';
import type { Documents, PassageNumber } from '../port/store.ts';
import { documents, scopedTerms } from '../sql/documents.ts';
import { countPassages, outlineDocuments, passageQuery, readCorpora, readPassages } from '../sql/passages.ts';
import { callColumns, postgresStatement } from '../sql/sql.ts';
import { count, method } from '../sql/work.ts';
import { callsWith, callValues, type Database } from './database.ts';
import { queryDialect } from './thread-search.ts';

const findHolders = postgresStatement('find-holders')`
  SELECT ordinal, passage.number FROM unnest(:queries::text[]) WITH ORDINALITY AS search (query, ordinal)
  CROSS JOIN LATERAL (
    SELECT number FROM passage WHERE organization_id = :organizationId AND terms @@ query::tsquery
      AND document_id <> ALL (ARRAY(
        SELECT id FROM document WHERE organization_id = :organizationId AND state <> 'ready')) LIMIT :limit) AS passage`;
// An advisory lock, not the organization's row, because creating threads must not wait for it.
const lockDocuments = postgresStatement('lock-documents')`
  SELECT id, pg_advisory_xact_lock(hashtextextended('skein documents ' || id, 0)) FROM organization
  WHERE id = :organizationId`;
const passageColumns = callColumns({ text: 'heading text terms' });
const insertPassages = postgresStatement('insert-passages')`WITH held AS (
    UPDATE document SET added_at = :now
    WHERE organization_id = :organizationId AND id = :id AND state = 'writing' RETURNING organization_id, id)
  INSERT INTO passage (organization_id, document_id, heading, text, terms)
  SELECT held.organization_id, held.id, heading, text, array_to_tsvector(string_to_array(terms, ' '))
  FROM held, ${callsWith(passageColumns)} ORDER BY ordinal RETURNING number`;

export function postgresDocuments(database: Database): Documents {
  const { run, read } = database;
  const searches = new SearchCache();
  return {
    ...documents(database, {
      lockDocuments,

      // Without `BEGIN`: both kinds of work are one statement, which is a transaction and one round trip.
      commitPart: read,

      *insertPassages(organizationId, id, corpus, part) {
        const passages = part.map((passage) => ({ ...passage, terms: scopedTerms(corpus, passage.terms) }));
        const lists = callValues(insertPassages, passageColumns, passages);
        return (yield* count(insertPassages, { ...lists, organizationId, id })) === part.length;
      },
    }),

    outlineDocuments: method(read, outlineDocuments),

    async findPassages(organizationId, accountId, terms, limit) {
      const corpora = await read(() => readCorpora(organizationId, accountId));
      const passageCount = countPassages(corpora);
      if (passageCount === 0) return { passageCount, holders: terms.map(() => []) };
      const cache = searches.of(corpora);
      const known = new Map(terms.map((term) => [term, cache.find<PassageNumber[]>(`${limit} ${term}`)]));
      const unknown = terms.filter((term) => known.get(term) === undefined);
      if (unknown.length > 0) {
        const queries = unknown.map((term) => passageQuery(corpora, term, queryDialect));
        type Holder = { ordinal: number; number: PassageNumber };
        const found = await run<Holder>(findHolders, { organizationId, queries, limit });
        const holders = Map.groupBy(found, ({ ordinal }) => ordinal);
        for (const [at, term] of unknown.entries()) {
          const numbers = (holders.get(at + 1) ?? []).map(({ number }) => number);
          known.set(term, cache.set(`${limit} ${term}`, numbers));
        }
      }
      return { passageCount, holders: terms.map((term) => known.get(term)!) };
    },

    readPassages: method(read, readPassages),
  };
}
