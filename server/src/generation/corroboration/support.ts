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

interface Match extends Window {
  /** How much of the statement's words the sentences contain: 0 to 1. */
  readonly coverage: number;
}

export interface Support extends Match {
  /** The passage, counted from 0, and its sentences. */
  readonly passage: number;
  readonly sentences: readonly string[];
}

/** The passages that support the claim. One that matches more closely and contradicts it outweighs the others. */
export function supportsOf(claim: Claim, evidence: readonly Evidence[]): Support[] {
  const supportsFrom = (matches: readonly (Match | undefined)[]) =>
    matches.flatMap((match, passage) =>
      match ? [{ ...match, passage, sentences: evidence[passage]!.sentences }] : [],
    );
  const quotes = supportsFrom(evidence.map((one) => quoteOf(claim, one)));
  if (quotes.length > 0) return quotes;
  const threshold = claim.figures.length > 0 ? thresholds.coverageWithFigures : thresholds.coverage;
  const matches = evidence.map((one) => closestMatch(claim, one));
  const denies = matches.map(
    (match, at) => match.coverage >= threshold && contradicts(claim, evidence[at]!, match),
  );
  const denial = Math.max(0, ...matches.map(({ coverage }, at) => (denies[at] ? coverage : 0)));
  const enough = Math.max(threshold, denial - thresholds.margin);
  return supportsFrom(
    matches.map((match, at) => (match.coverage >= enough && !denies[at] ? match : undefined)),
  );
}

/** The sentence that says it word for word, and in the same units. */
function quoteOf({ wording, figures }: Claim, evidence: Evidence): Match | undefined {
  const at = evidence.wordings.indexOf(wording);
  if (at < 0 || !figures.every((figure) => agrees(figure, evidence.figures[at]!))) return undefined;
  return { coverage: 1, from: at, to: at };
}

/** The sentence that contains most of the claim's words, or two neighbours if it takes both. */
function closestMatch(claim: Claim, evidence: Evidence): Match {
  const { terms, figures } = claim;
  let [single, pair]: Match[] = [
    { coverage: 0, from: 0, to: 0 },
    { coverage: 0, from: 0, to: 0 },
  ];
  let best = 0;
  const held = termsBySentence(claim, evidence);
  const coverageOf = (...sentences: ReadonlySet<number>[]) =>
    terms.filter((_, at) => sentences.some((own) => own.has(at))).length / Math.max(1, terms.length);
  for (const [at, own] of held.entries()) {
    const coverage = coverageOf(own);
    const agreeing = figures.filter((figure) => agrees(figure, evidence.figures[at]!)).length;
    const score = coverage + thresholds.figure * agreeing;
    if (score > best) [best, single] = [score, { coverage, from: at, to: at }];
    const both = at === 0 ? 0 : coverageOf(own, held[at - 1]!);
    if (both > pair!.coverage) pair = { coverage: both, from: at - 1, to: at };
  }
  return pair!.coverage >= single!.coverage + thresholds.pairGain ? pair! : single!;
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
