import { readFileSync } from 'node:fs';
import type { DocumentOutline, FoundPassage, PassageNumber, PassageStore } from '../src/port/documents.ts';
import { extractPassageTerms } from '../src/retrieval/terms.ts';

export interface StoredDocument extends Omit<FoundPassage, 'heading' | 'text'> {
  readonly organizationId: string;
  readonly accountId: string | null;
  readonly questions: readonly string[];
  readonly passages: readonly { readonly heading: string; readonly text: string }[];
}

interface StoredPassage extends FoundPassage {
  readonly number: PassageNumber;
  readonly document: StoredDocument;
  readonly terms: ReadonlySet<string>;
}

/** A passage store in memory. Passages are numbered in the order of the documents, and found in the order of their numbers. */
export function createPassageStore(documents: readonly StoredDocument[]): PassageStore {
  const passages = documents.flatMap((document) => document.passages.map((text) => ({ document, text })));
  const stored = passages.map(({ document, text }, at): StoredPassage => {
    const { documentId, name, title, url } = document;
    const terms = new Set(extractPassageTerms(name, title, text));
    return { number: at + 1, document, documentId, name, title, url, ...text, terms };
  });
  const holders = new Map<string, StoredPassage[]>();
  for (const passage of stored) {
    for (const term of passage.terms) holders.set(term, [...(holders.get(term) ?? []), passage]);
  }
  const isVisible = (organizationId: string, accountId: string | null) => (document: StoredDocument) =>
    document.organizationId === organizationId && [null, accountId].includes(document.accountId);

  /** The passages with all of the terms between spaces, or with any between bars. */
  function find(query: string): StoredPassage[] {
    const groups = query.split('|').map((group) => {
      const [first = '', ...others] = group.split(' ');
      return (holders.get(first) ?? []).filter(({ terms }) => others.every((term) => terms.has(term)));
    });
    return [...new Set(groups.flat())].sort((a, b) => a.number - b.number);
  }

  return {
    async findPassages(organizationId, accountId, terms, limit) {
      const sees = isVisible(organizationId, accountId);
      return {
        passageCount: stored.filter(({ document }) => sees(document)).length,
        holders: terms.map((query) =>
          find(query)
            .filter(({ document }) => sees(document))
            .slice(0, limit)
            .map(({ number }) => number),
        ),
      };
    },
    async readPassages(organizationId, accountId, numbers) {
      const sees = isVisible(organizationId, accountId);
      const read = numbers.flatMap((number) => stored[number - 1] ?? []);
      return read
        .filter(({ document }) => sees(document))
        .map(({ document: _, terms: __, ...passage }) => passage);
    },
    async outlineDocuments(organizationId, accountId, limit): Promise<DocumentOutline[]> {
      const visible = documents.filter(isVisible(organizationId, accountId));
      const byName = visible.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return byName
        .slice(0, limit)
        .map(({ title, questions, passages }) => ({ title, questions, opening: passages[0]?.text ?? '' }));
    },
  };
}

/** For a thread that reads documents itself: those in a file of JSON. */
export function openPassages(file: string): PassageStore {
  return createPassageStore(JSON.parse(readFileSync(file, 'utf8')));
}
