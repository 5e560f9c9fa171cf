import { type Piece, passageBlocks } from './passage-blocks.ts';

/** A part of a passage's text: from `start` up to `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A sentence or table row with this share of its words in the citation is shown as cited. */
const shareMin = 0.7;
/** If none has it, the closest one is, unless it is too far. */
const closestMin = 0.35;

/** The sentences of a passage that a citation is about. A reply may quote them or put them in its own words. */
export function citedSpans(text: string, cited: string): Span[] {
  const words = extractWords(cited);
  if (words.size === 0) return [];
  const scored = splitUnits(text).map((pieces) => ({ pieces, share: measureShare(pieces, words) }));
  const closest = scored.reduce((best, { share }) => Math.max(best, share), 0);
  const least = closest >= shareMin ? shareMin : Math.max(closest, closestMin);
  return scored
    .filter(({ share }) => share >= least)
    .flatMap(({ pieces }) => pieces)
    .map(({ text, start }) => ({ start, end: start + text.length }));
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Sentences, list items and table rows. A row consists of its cells. */
function splitUnits(text: string): Piece[][] {
  return passageBlocks(text).flatMap((block) => {
    if (block.kind === 'table') return block.rows.map((row) => [...row]);
    if (block.kind === 'code') return [];
    return (block.kind === 'list' ? block.items : [block.piece]).flatMap(splitSentences);
  });
}

function splitSentences({ text, start }: Piece): Piece[][] {
  return [...sentences.segment(text)].map(({ segment, index }) => [
    { text: segment.trimEnd(), start: start + index },
  ]);
}

/** The share of the unit's words that are among `words`. A unit of one or two words is too short to tell. */
function measureShare(pieces: readonly Piece[], words: ReadonlySet<string>): number {
  const own = extractWords(pieces.map(({ text }) => text).join(' '));
  if (own.size < 3) return 0;
  return [...own].filter((word) => words.has(word)).length / own.size;
}

function extractWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}
