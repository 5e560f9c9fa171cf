import type { FileSource, FoundPassage, IndexedDocument } from '../domain/document.ts';
import type { OrganizationId } from '../domain/id.ts';

/** What was searched, and what was found in it, best first. */
export interface Findings {
  /** How many passages there are to draw on, found or not. */
  readonly searched: number;
  readonly passages: readonly FoundPassage[];
}

/** Documents: how a file becomes passages, and how passages are found. */
export interface Library {
  /**
   * Rejects with an `UnreadableDocument` where a file cannot be read. The format follows from the name's ending. Few files
   * are read at once; organizations that wait take turns.
   */
  read(organizationId: OrganizationId, name: string, source: FileSource): Promise<IndexedDocument>;
  /**
   * Draws on the organization's general documents and, with an account, on that account's. With a signal, a store that is
   * away is asked again until the signal aborts.
   */
  search(
    organizationId: OrganizationId,
    accountId: string | null,
    question: string,
    limit: number,
    signal?: AbortSignal,
  ): Promise<Findings>;
}
