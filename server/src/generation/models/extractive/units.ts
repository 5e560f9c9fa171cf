import { type Part, partsOf } from '../../reading/passage-parts.ts';
import { sentencesOfPart } from '../../reading/sentences.ts';

/** What an answer is put together from: a sentence, a line of a list, or a row of a table. */
export interface Unit {
  readonly text: string;
  /** The list or table that it is a line of, counted within the passage. */
  readonly list: number | undefined;
}

/** The units of a passage in order. */
export function unitsOf(text: string): Unit[] {
  return partsOf(text).flatMap((part, index) =>
    sentencesOfPart(part).map((sentence) => ({ text: sentence, list: isList(part) ? index : undefined })),
  );
}

function isList({ kind }: Part): boolean {
  return kind === 'list' || kind === 'table';
}
