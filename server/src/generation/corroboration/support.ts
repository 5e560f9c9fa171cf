import type { Claim, Evidence } from './claim.ts';
import { contradicts, type Window } from './contradiction.ts';
import { agrees } from './figures.ts';

/** Chosen on the statements marked `tune` in bench/evaluation. */
const thresholds = {
  /** How much of a statement's words a passage must contain, close together. */
  coverage: 0.65,
  /** The same where the statement has figures, and the passage has them too. */
  coverageWithFigures: 0.5,
  /** How much better two sentences together must be than the best one alone. */
  pairGain: 0.15,
  /** Among sentences with the same words, the one with the figures is preferred. */
  figure: 0.02,
  /** How much less closely a passage may match than one that contradicts the statement. */
  margin: 0.05,
};

export interface Support extends Window {
  readonly coverage: number;
}

/** Per passage, where it says what is claimed. A passage that matches more closely and contradicts it outweighs the others. */
export function supportsOf(claim: Claim, evidence: readonly Evidence[]): (Support | undefined)[] {
  const quotes = evidence.map((one) => quoteOf(claim, one));
  if (quotes.some((quote) => quote !== undefined)) return quotes;
  const threshold = claim.figures.length > 0 ? thresholds.coverageWithFigures : thresholds.coverage;
  const windows = evidence.map((one) => closestWindow(claim, one));
  const denies = windows.map(
    (window, at) => window.coverage >= threshold && contradicts(claim, evidence[at]!, window),
  );
  const denial = Math.max(0, ...windows.map(({ coverage }, at) => (denies[at] ? coverage : 0)));
  const enough = Math.max(threshold, denial - thresholds.margin);
  return windows.map((window, at) => (window.coverage >= enough && !denies[at] ? window : undefined));
}

/** The sentence that says it word for word, and in the same units. */
function quoteOf({ wording, figures }: Claim, evidence: Evidence): Support | undefined {
  const at = evidence.wordings.indexOf(wording);
  if (at < 0 || !figures.every((figure) => agrees(figure, evidence.figures[at]!))) return undefined;
  return { coverage: 1, from: at, to: at };
}

/** The sentence that contains most of the claim's words, or two neighbours where it takes both. */
function closestWindow(claim: Claim, evidence: Evidence): Support {
  let single: Support = { coverage: 0, from: 0, to: 0 };
  let pair = single;
  let best = 0;
  const held = termsBySentence(claim, evidence);
  for (const [at, own] of held.entries()) {
    const coverage = coverageOf(claim, own);
    const figures = claim.figures.filter((figure) => agrees(figure, evidence.figures[at]!)).length;
    if (coverage + thresholds.figure * figures > best) {
      best = coverage + thresholds.figure * figures;
      single = { coverage, from: at, to: at };
    }
    const both = at === 0 ? 0 : coverageOf(claim, own, held[at - 1]);
    if (both > pair.coverage) pair = { coverage: both, from: at - 1, to: at };
  }
  return pair.coverage >= single.coverage + thresholds.pairGain ? pair : single;
}

/** Per sentence, which of the claim's terms it contains, in this or in another word. */
function termsBySentence({ terms }: Claim, { sentences, holders }: Evidence): Set<number>[] {
  const held = sentences.map(() => new Set<number>());
  for (const [at, { term, others }] of terms.entries()) {
    for (const word of [term, ...others]) {
      for (const sentence of holders.get(word) ?? []) held[sentence]!.add(at);
    }
  }
  return held;
}

function coverageOf({ terms }: Claim, one: ReadonlySet<number>, other?: ReadonlySet<number>): number {
  const count = terms.filter((_, at) => one.has(at) || other?.has(at)).length;
  return terms.length === 0 ? 0 : count / terms.length;
}
