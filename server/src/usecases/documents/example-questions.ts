import type { DocumentHeadings } from '../../domain/document.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';

/** Returns questions that the document answers, each of them tried. */
export type SuggestQuestions = (
  document: DocumentHeadings,
  signal: AbortSignal,
) => Promise<readonly string[]>;

/** The passages whose headings suggest questions. */
const passagesRead = 100;
/** The documents that a person gets examples from. */
const documentsRead = 12;
const examplesMax = 4;

/** Makes the questions of documents that were added since the last call. A document that fails is not tried again. */
export async function makeExampleQuestions(
  { store }: Context,
  suggest: SuggestQuestions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const document = await store.claimDocumentForQuestions();
    if (document === undefined) return;
    const { organizationId, id } = document;
    const passages = await store.listPassages(organizationId, id, { limit: passagesRead });
    const headings = [...new Set(passages.map(({ heading }) => heading.split(' › ').at(-1)!))];
    const asked = suggest({ ...document, headings: headings.filter(Boolean) }, signal);
    const questions = await asked.catch((error) => {
      // A stop is not the document's fault: the next start tries it again.
      if (signal.aborted) return null;
      throw error;
    });
    if (questions?.length !== 0) await store.setDocumentQuestions(organizationId, document, questions);
  }
}

/** Questions that the documents answer, of different documents where possible. The account's documents come first. */
export async function listExampleQuestions(
  { store }: Context,
  organizationId: OrganizationId,
  accountId: string | null,
): Promise<string[]> {
  const found = await store.listDocumentQuestions(organizationId, accountId, documentsRead);
  const rounds = Math.max(0, ...found.map((questions) => questions.length));
  const inTurn = Array.from({ length: rounds }, (_, round) =>
    found.flatMap((questions) => questions[round] ?? []),
  );
  return [...new Set(inTurn.flat())].slice(0, examplesMax);
}
