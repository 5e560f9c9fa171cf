import type { Claim } from './claim.ts';
import { contradicts, type Window } from './contradiction.ts';
import type { Evidence } from './evidence.ts';
import { agrees } from './figures.ts';

/** Found on the statements marked `tune` of bench/evaluation. */
export const thresholds = {
  /** How much of a statement's words a passage must hold, close together. */
  coverage: 0.65,
  /** The same where the statement has figures, and the passage has them too. */
  coverageWithFigures: 0.5,
  /** What a word counts for which another one stands, or which only heading or title hold. */
  synonym: 0.8,
  context: 0.7,
  /** How much better two sentences together must be than the best one alone. */
  pairGain: 0.15,
  /** Of sentences that hold the same words, the one with the figures is meant. */
  figure: 0.02,
  /** How much less closely one may speak of it than one that denies it. */
  margin: 0.05,
};

export interface Support extends Window {
  readonly coverage: number;
}

/**
 * Per passage, where it says what is claimed. What speaks of the same thing more closely and says otherwise outweighs
 * those that only seem to say it.
 */
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

/** The sentence that holds most of the claim's words, or two neighbours where it takes both. */
function closestWindow(claim: Claim, evidence: Evidence): Support {
  let single: Support = { coverage: 0, from: 0, to: 0 };
  let pair = single;
  let best = 0;
  const shares = sharesBySentence(claim, evidence);
  const everywhere = sharesOfContext(claim, evidence);
  for (let at = 0; at < shares.length; at++) {
    const coverage = coverageOf(shares.slice(at, at + 1), everywhere);
    const figures = claim.figures.filter((figure) => agrees(figure, evidence.figures[at]!)).length;
    if (coverage + thresholds.figure * figures > best) {
      best = coverage + thresholds.figure * figures;
      single = { coverage, from: at, to: at };
    }
    const both = at === 0 ? 0 : coverageOf(shares.slice(at - 1, at + 1), everywhere);
    if (both > pair.coverage) pair = { coverage: both, from: at - 1, to: at };
  }
  return pair.coverage >= single.coverage + thresholds.pairGain ? pair : single;
}

/** Per sentence: how surely it holds the claim's terms, by their place in the claim. */
function sharesBySentence({ terms }: Claim, { sentences, holders }: Evidence): Map<number, number>[] {
  const shares = sentences.map(() => new Map<number, number>());
  for (const [at, { term, others }] of terms.entries()) {
    for (const other of others) {
      for (const sentence of holders.get(other) ?? []) shares[sentence]!.set(at, thresholds.synonym);
    }
    for (const sentence of holders.get(term) ?? []) shares[sentence]!.set(at, 1);
  }
  return shares;
}

function sharesOfContext({ terms }: Claim, { context }: Evidence): number[] {
  return terms.map(({ term, others }) => {
    if (context.has(term)) return thresholds.context;
    return others.some((other) => context.has(other)) ? thresholds.context * thresholds.synonym : 0;
  });
}

function coverageOf(shares: readonly ReadonlyMap<number, number>[], everywhere: readonly number[]): number {
  let sum = 0;
  for (const [at, anywhere] of everywhere.entries()) {
    let share = anywhere;
    for (const one of shares) share = Math.max(share, one.get(at) ?? 0);
    sum += share;
  }
  return everywhere.length === 0 ? 0 : sum / everywhere.length;
}
