import { type IndexedPassage, storableTitle, storableUrl } from '../domain/document.ts';
import type { DocumentId } from '../domain/id.ts';
import type { DocumentBudget, NewDocument } from './store.ts';

/**
 * So many passages are written or removed in one commit. On SQLite that takes 8 ms of the event loop at most, measured
 * with passages of 170 different words.
 */
export const passagesPerCommit = 25;

/** A document that is being written and has not grown for this long belongs to a process that died. */
export const abandonedAfterMs = 60_000;

export function partsOf(passages: readonly IndexedPassage[]): IndexedPassage[][] {
  const count = Math.ceil(passages.length / passagesPerCommit);
  return Array.from({ length: count }, (_, index) =>
    passages.slice(index * passagesPerCommit, (index + 1) * passagesPerCommit),
  );
}

/** The document with a title and a URL that may be stored. */
export function withinLimits(document: NewDocument): NewDocument {
  return { ...document, title: storableTitle(document.title), url: storableUrl(document.url) };
}

/** What of the budget the document would exceed, given what the others take. */
export function budgetFault(
  { documentsMax, bytesMax }: DocumentBudget,
  taken: { readonly documents: number; readonly bytes: number },
  { bytes }: NewDocument,
): 'too-many-documents' | 'too-many-bytes' | undefined {
  if (taken.documents + 1 > documentsMax) return 'too-many-documents';
  return taken.bytes + bytes > bytesMax ? 'too-many-bytes' : undefined;
}

/** Thrown to a writer that was silent for so long that its document was removed. */
export function abandoned(id: DocumentId): Error {
  return new Error(`the document ${id} was removed as abandoned while it was being written`);
}
