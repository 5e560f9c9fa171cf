import type { FoundPassage } from '../../domain/document.ts';
import type { Source } from '../../domain/message.ts';
import { withMarks } from './citation-mark.ts';
import { snippetOf } from './snippet.ts';
import type { Piece } from './statements.ts';

/** A passage that says what a statement says, and the sentences of it that do. */
export interface PassageSupport {
  /** Counted from 0. */
  readonly passage: number;
  readonly coverage: number;
  readonly sentences: readonly string[];
  readonly from: number;
  readonly to: number;
}

export interface Finding {
  readonly piece: Piece;
  readonly supports: readonly PassageSupport[];
}

/** The draft with its citations put right, and the sources they number: one per document, in order of first citation. */
export function revise(
  findings: readonly Finding[],
  passages: readonly FoundPassage[],
): { text: string; sources: Source[] } {
  const sources: Source[] = [];
  const numbers = new Map<string, number>();
  let text = '';
  for (const { piece, supports } of findings) {
    const cited = new Set<number>();
    for (const support of toCite(piece, supports)) {
      const { documentId: id, title, url } = passages[support.passage]!;
      if (!numbers.has(id)) {
        const snippet = snippetOf(support.sentences, support.from, support.to);
        numbers.set(id, sources.push({ id, title, url, snippet }));
      }
      cited.add(numbers.get(id)!);
    }
    text += withMarks(
      piece.text,
      [...cited].sort((a, b) => a - b),
    );
  }
  return { text, sources };
}

/** What the draft cites, where it bears the statement out; else what bears it out best. */
function toCite(piece: Piece, supports: readonly PassageSupport[]): readonly PassageSupport[] {
  const cited = supports.filter(({ passage }) => piece.marks.includes(passage + 1));
  if (cited.length > 0 || supports.length === 0) return cited;
  return [supports.reduce((best, one) => (one.coverage > best.coverage ? one : best))];
}
