import { type IndexedPassage, storableTitle, storableUrl } from '../domain/document.ts';
import type { DocumentId } from '../domain/id.ts';
import type { AuditNote, DocumentBudget, DocumentNote, NewDocument } from './store.ts';

/**
 * One commit writes or removes at most this many passages. On SQLite that took at most 8 ms of the event loop, with
 * passages of 170 different words.
 */
export const passagesPerCommit = 25;

/** A document that is being written and has not grown for this long belongs to a process that has died. */
export const abandonedAfterMs = 60_000;

export function partsOf(passages: readonly IndexedPassage[]): IndexedPassage[][] {
  const count = Math.ceil(passages.length / passagesPerCommit);
  return Array.from({ length: count }, (_, index) =>
    passages.slice(index * passagesPerCommit, (index + 1) * passagesPerCommit),
  );
}

/** The document with its title and URL cut to what may be stored. */
export function withinLimits(document: NewDocument): NewDocument {
  return { ...document, title: storableTitle(document.title), url: storableUrl(document.url) };
}

/** Which limit of the budget the document would exceed together with the others. */
export function budgetFault(
  { documentsMax, bytesMax }: DocumentBudget,
  taken: { readonly documents: number; readonly bytes: number },
  { bytes }: NewDocument,
): 'too-many-documents' | 'too-many-bytes' | undefined {
  if (taken.documents + 1 > documentsMax) return 'too-many-documents';
  return taken.bytes + bytes > bytesMax ? 'too-many-bytes' : undefined;
}

/** For a writer that paused for so long that its document was removed. */
export function abandoned(id: DocumentId): Error {
  return new Error(`the document ${id} was removed as abandoned while it was being written`);
}

/** The note of a document; `keptId` is the id of the document that it replaces, if any. */
export function noteOf({ replacedAction, ...note }: DocumentNote, keptId: DocumentId | null): AuditNote {
  return keptId === null ? note : { ...note, action: replacedAction, subject: keptId };
}

/** A term as it is indexed. No term contains the dot, so that the terms of two corpora never coincide. */
export function scoped(corpus: number, term: string): string {
  return `${corpus}·${term}`;
}
