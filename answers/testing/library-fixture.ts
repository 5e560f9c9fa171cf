import { writeFileSync } from 'node:fs';
import type { Findings, PassageStore, PassageText } from '../src/port/documents.ts';
import { searchPassages } from '../src/retrieval/search.ts';
import type { PassageSource } from '../src/threads/model-thread.ts';
import { createPassageStore, type StoredDocument } from './passage-store.ts';

/** A document for tests: a title, and passages as text or under a heading. */
interface WrittenDocument {
  readonly title: string;
  readonly passages: readonly (string | PassageText)[];
  readonly name?: string;
  readonly accountId?: string | null;
  readonly questions?: readonly string[];
}

export interface LibraryFixture {
  readonly library: {
    search(
      organizationId: string,
      accountId: string | null,
      question: string,
      limit: number,
    ): Promise<Findings>;
  };
  readonly store: PassageStore;
  readonly documents: readonly StoredDocument[];
  readonly organizationId: string;
}

/** A library in memory. A document’s id is `doc_` and its name. */
export function createLibrary(written: readonly WrittenDocument[]): LibraryFixture {
  const organizationId = 'org_library';
  const documents = written.map((document): StoredDocument => {
    const { title, name = title, accountId = null, questions = [] } = document;
    const passages = document.passages.map((passage) =>
      typeof passage === 'string' ? { heading: '', text: passage } : passage,
    );
    return {
      documentId: `doc_${name}`,
      organizationId,
      accountId,
      name,
      title,
      url: null,
      questions,
      passages,
    };
  });
  const store = createPassageStore(documents);
  return {
    library: {
      // Callers may pass more, such as a signal.
      search: (organizationId, accountId, question, limit) =>
        searchPassages(store, organizationId, accountId, question, limit),
    },
    store,
    documents,
    organizationId,
  };
}

/** Writes the documents to a file from which threads and processes can read them. */
export function writePassageSource({ documents }: LibraryFixture, file: string): PassageSource {
  writeFileSync(file, JSON.stringify(documents));
  return { module: import.meta.resolve('./passage-store.ts'), location: file };
}
