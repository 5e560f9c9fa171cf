import type { FileSource, FoundPassage, IndexedDocument } from './document.ts';
import type { OrganizationId } from './id.ts';

/** The result of a search, best passage first. */
export interface Findings {
  /** The number of passages that were searched. */
  readonly searched: number;
  readonly passages: readonly FoundPassage[];
  /** By passage, from 0: how much of the question it contains. Missing if it was not requested. */
  readonly scores?: readonly number[];
}

/** Reads files into passages and searches them. */
export interface Library {
  /**
   * Rejects with an `UnreadableDocument` if the file cannot be read. The file name's extension decides the format. Few
   * files are read at once, and waiting organizations take turns.
   */
  read(organizationId: OrganizationId, name: string, source: FileSource): Promise<IndexedDocument>;
  /** Searches the organization's general documents and, with an account, that account's. */
  search(
    organizationId: OrganizationId,
    accountId: string | null,
    question: string,
    limit: number,
  ): Promise<Findings>;
}

/** The part of a document that example questions are made from. */
export interface DocumentHeadings {
  readonly organizationId: OrganizationId;
  readonly accountId: string | null;
  readonly id: string;
  readonly title: string;
  readonly headings: readonly string[];
}
