import type { DocumentText, FoundPassage } from '../domain/document.ts';
import type { OrganizationId } from '../domain/id.ts';

/** What was searched, and what was found in it, best first. */
export interface Findings {
  /** How many passages there are to draw on, found or not. */
  readonly searched: number;
  readonly passages: readonly FoundPassage[];
}

/** Documents: how a file becomes passages, and how passages are found. */
export interface Library {
  /** Rejects with an `UnreadableDocument` where a file cannot be read. The format follows from the name's ending. */
  read(name: string, bytes: Uint8Array): Promise<DocumentText>;
  /**
   * The words by which each of these passages is found, normalised: what the store's index holds. Others have their turn
   * meanwhile.
   */
  termsOf(texts: readonly string[]): Promise<string[][]>;
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
