import type { DocumentHeadings } from '../../domain/document.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Store } from '../../storage/port/store.ts';

/** Returns questions that the document answers. Each was asked to make sure. */
export type SuggestQuestions = (
  document: DocumentHeadings,
  signal: AbortSignal,
) => Promise<readonly string[]>;

/** Questions are suggested by the headings of this many passages. */
const passagesRead = 100;
const documentsRead = 12;
const examplesMax = 4;

interface ExampleQuestionNeeds {
  readonly store: Pick<
    Store,
    'claimDocumentForQuestions' | 'listPassages' | 'setDocumentQuestions' | 'listDocumentQuestions'
  >;
}

export type ExampleQuestions = ReturnType<typeof createExampleQuestions>;

export function createExampleQuestions({ store }: ExampleQuestionNeeds) {
  return { make, list };

  /** Makes the questions of documents that were added since the last call. A document that fails is not tried again. */
  async function make(suggest: SuggestQuestions, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const document = await store.claimDocumentForQuestions();
      if (document === undefined) return;
      const { organizationId, id } = document;
      const passages = await store.listPassages(organizationId, id, { limit: passagesRead });
      const headings = passages.map(({ heading }) => heading).filter(Boolean);
      const suggested = suggest({ ...document, headings }, signal);
      const questions = await suggested.catch((error) => {
        // A stop is not the document's fault: the next start tries it again.
        if (signal.aborted) return null;
        throw error;
      });
      if (questions?.length !== 0) await store.setDocumentQuestions(organizationId, document, questions);
    }
  }

  /** Questions that the documents answer, of different documents where possible. The account's documents come first. */
  async function list(organizationId: OrganizationId, accountId: string | null): Promise<string[]> {
    const found = await store.listDocumentQuestions(organizationId, accountId, documentsRead);
    const rounds = Math.max(0, ...found.map((questions) => questions.length));
    const inTurn = Array.from({ length: rounds }, (_, round) =>
      found.flatMap((questions) => questions[round] ?? []),
    );
    return [...new Set(inTurn.flat())].slice(0, examplesMax);
  }
}
