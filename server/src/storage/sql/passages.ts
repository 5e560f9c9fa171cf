import type { DocumentOutline, FoundPassage } from '../../domain/document.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { accountKey } from '../port/listings.ts';
import type { PassageNumber } from '../port/store.ts';
import { scoped } from './documents.ts';
import { jsonRows, opaque, sql, statement } from './sql.ts';
import type { QueryDialect } from './thread-search.ts';
import { rows, type Work } from './work.ts';

interface Corpus {
  readonly number: number;
  readonly passages: number;
  readonly stamp: number;
}

type ReadPassage = FoundPassage & { readonly number: PassageNumber };

const isCovered = sql`organization_id = :organizationId AND account_key IN ('', :accountKey)`;

const findCorpora = statement('find-corpora')`SELECT number, passages, stamp FROM corpus WHERE ${isCovered}`;
// A left join, so that PostgreSQL does not read the passages of all documents first.
const readFound = statement('read-passages')`
  SELECT coalesce(kept_id, document.id) AS "documentId", name, title, url, number, heading, text
  FROM json_each(:passages) AS entry CROSS JOIN passage
  LEFT JOIN document ON document.organization_id = passage.organization_id AND document.id = document_id
  WHERE passage.organization_id = :organizationId AND number = CAST(entry.value ->> 'number' AS bigint)
    AND ${opaque(sql`state = 'ready' AND account_key IN ('', :accountKey)`)}`;
const outline = statement('outline-documents')`
  SELECT title, coalesce(questions, '[]') AS questions, coalesce((SELECT text FROM passage
      WHERE organization_id = :organizationId AND document_id = document.id ORDER BY number LIMIT 1), '') AS opening
  FROM document WHERE ${isCovered} AND state = 'ready' ORDER BY name, id LIMIT :limit`;

export const readCorpora = (organizationId: OrganizationId, accountId: string | null): Work<Corpus[]> =>
  rows<Corpus>(findCorpora, { organizationId, accountKey: accountKey(accountId) });

export const countPassages = (corpora: readonly Corpus[]): number =>
  corpora.reduce((sum, { passages }) => sum + passages, 0);

/** The text of a query for the passages of any of the corpora with the terms, as in `findPassages`. */
export function passageQuery(
  corpora: readonly Corpus[],
  terms: string,
  { and, or, term }: QueryDialect,
): string {
  const joinTerms = (words: string, corpus: number) =>
    `(${words
      .split(' ')
      .map((word) => term(scoped(corpus, word)))
      .join(and)})`;
  return terms
    .split('|')
    .flatMap((words) => corpora.map(({ number }) => joinTerms(words, number)))
    .join(or);
}

export function* readPassages(
  organizationId: OrganizationId,
  accountId: string | null,
  numbers: readonly PassageNumber[],
): Work<ReadPassage[]> {
  if (numbers.length === 0) return [];
  const passages = jsonRows(numbers.map((number) => ({ number })));
  const values = { organizationId, accountKey: accountKey(accountId), passages };
  const found = yield* rows<ReadPassage>(readFound, values);
  const known = new Map(found.map((passage) => [passage.number, passage]));
  return numbers.flatMap((number) => known.get(number) ?? []);
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
