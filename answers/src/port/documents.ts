/** A piece of a document that can be read, found and cited without the rest. */
export interface PassageText {
  /** The headings above it, outermost first: 'Refunds › Digital goods'. Empty if there are none. */
  readonly heading: string;
  readonly text: string;
}

export interface IndexedPassage extends PassageText {
  /** The words by which the passage is found, normalized; letters and digits only. */
  readonly terms: readonly string[];
}

/** What a file contains. */
export interface DocumentText {
  readonly title: string;
  readonly url: string | null;
  readonly passages: readonly PassageText[];
}

export interface IndexedDocument extends DocumentText {
  /** The UTF-8 size of its passages and their headings. */
  readonly bytes: number;
  readonly passages: readonly IndexedPassage[];
}

export interface FoundPassage extends PassageText {
  readonly documentId: string;
  /** The file path under which the document was added. */
  readonly name: string;
  readonly title: string;
  readonly url: string | null;
}

/** The result of a search, best passage first. */
export interface Findings {
  readonly searched: number;
  readonly passages: readonly FoundPassage[];
}

export interface DocumentOutline {
  readonly title: string;
  readonly opening: string;
  /** Example questions that it answers. */
  readonly questions: readonly string[];
}

/** The part of a document that example questions are made from. */
export interface DocumentHeadings {
  readonly organizationId: string;
  /** Null for a document that every account of the organization may use. */
  readonly accountId: string | null;
  readonly id: string;
  readonly title: string;
  readonly headings: readonly string[];
}

/** The store's own number of a passage, within an organization. */
export type PassageNumber = number;

/**
 * The documents of organizations. With an account, each method reads the organization's general documents and those of the
 * account; without one, only the general documents.
 */
export interface PassageStore {
  /**
   * The passages that contain each term, at most `limit` per term, and how many passages there are. Several terms separated
   * by spaces find the passages that contain all of them. Terms separated by `|` find the passages that contain any of them.
   */
  findPassages(
    organizationId: string,
    accountId: string | null,
    terms: readonly string[],
    limit: number,
  ): Promise<{ readonly passageCount: number; readonly holders: readonly (readonly PassageNumber[])[] }>;
  /** Passages in the given order. Passages that are gone are left out. */
  readPassages(
    organizationId: string,
    accountId: string | null,
    passages: readonly PassageNumber[],
  ): Promise<readonly FoundPassage[]>;
  /** The first documents by name. */
  outlineDocuments(
    organizationId: string,
    accountId: string | null,
    limit: number,
  ): Promise<readonly DocumentOutline[]>;
}
