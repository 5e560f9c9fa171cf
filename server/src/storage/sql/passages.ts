import type { DocumentOutline, FoundPassage } from '../../domain/document.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';
import { accountKey } from '../listings.ts';
import type { PassageNumber } from '../store.ts';
import { scoped } from './documents.ts';
import { jsonRows, sql, statement } from './sql.ts';
import type { QueryDialect } from './thread-search.ts';
import { rows, type Work } from './work.ts';

interface Corpus {
  readonly number: number;
  readonly passages: number;
}

type PassageRow = Pick<FoundPassage, 'heading' | 'text'> & { number: PassageNumber; storedId: DocumentId };
type SourceRow = Omit<FoundPassage, 'heading' | 'text'> & { storedId: DocumentId };
type ReadPassage = FoundPassage & { readonly number: PassageNumber };

const isCovered = sql`organization_id = :organizationId AND account_key IN ('', :accountKey)`;

const findCorpora = statement('find-corpora')`SELECT number, passages FROM corpus WHERE ${isCovered}`;
const readTexts = statement('read-passages')`SELECT number, document_id AS "storedId", heading, text
  FROM json_each(:passages) AS entry CROSS JOIN passage
  WHERE organization_id = :organizationId AND number = CAST(entry.value ->> 'number' AS bigint)`;
const readSources = statement('read-sources')`
  SELECT document.id AS "storedId", coalesce(kept_id, document.id) AS "documentId", name, title, url
  FROM json_each(:documents) AS entry CROSS JOIN document
  WHERE organization_id = :organizationId AND document.id = (entry.value ->> 'id') AND state = 'ready'`;
const outline = statement('outline-documents')`
  SELECT title, coalesce(questions, '[]') AS questions, coalesce((SELECT text FROM passage
      WHERE organization_id = :organizationId AND document_id = document.id ORDER BY number LIMIT 1), '') AS opening
  FROM document WHERE ${isCovered} AND state = 'ready' ORDER BY name, id LIMIT :limit`;

export const corporaOf = (organizationId: OrganizationId, accountId: string | null): Work<Corpus[]> =>
  rows<Corpus>(findCorpora, { organizationId, accountKey: accountKey(accountId) });

export const passageCountOf = (corpora: readonly Corpus[]): number =>
  corpora.reduce((sum, { passages }) => sum + passages, 0);

/** The text of a query for the passages of any of the corpora with the terms, as in `findPassages`. */
export function passageQuery(
  corpora: readonly Corpus[],
  terms: string,
  { and, or, term }: QueryDialect,
): string {
  const allOf = (words: string, corpus: number) =>
    `(${words
      .split(' ')
      .map((word) => term(scoped(corpus, word)))
      .join(and)})`;
  return terms
    .split('|')
    .flatMap((words) => corpora.map(({ number }) => allOf(words, number)))
    .join(or);
}

export function* readPassages(
  organizationId: OrganizationId,
  passages: readonly PassageNumber[],
): Work<ReadPassage[]> {
  if (passages.length === 0) return [];
  const numbers = jsonRows(passages.map((number) => ({ number })));
  const found = yield* rows<PassageRow>(readTexts, { organizationId, passages: numbers });
  const documents = jsonRows([...new Set(found.map(({ storedId }) => storedId))].map((id) => ({ id })));
  const sources = new Map<DocumentId, Omit<SourceRow, 'storedId'>>();
  for (const { storedId, ...source } of yield* rows<SourceRow>(readSources, { organizationId, documents }))
    sources.set(storedId, source);
  const known = new Map<PassageNumber, ReadPassage>();
  for (const { storedId, ...passage } of found) {
    const source = sources.get(storedId);
    if (source !== undefined) known.set(passage.number, { ...source, ...passage });
  }
  return passages.flatMap((number) => known.get(number) ?? []);
}

export function* outlineDocuments(
  organizationId: OrganizationId,
  accountId: string | null,
  limit: number,
): Work<DocumentOutline[]> {
  type Row = Record<keyof DocumentOutline, string>;
  const found = yield* rows<Row>(outline, { organizationId, accountKey: accountKey(accountId), limit });
  return found.map(({ questions, ...document }) => ({ ...document, questions: JSON.parse(questions) }));
}
