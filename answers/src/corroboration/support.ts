import { listWordings } from '../retrieval/other-wordings.ts';
import { splitWords, tokenize, toTerm } from '../retrieval/terms.ts';
import { agrees, type Evidence, extractFigures, type Sentence } from './sentence.ts';

/** Chosen on the statements marked `tune` in bench/evaluation. */
const thresholds = {
  /** The share of a statement's words that a passage must contain, close together. */
  coverage: 0.65,
  /** The same where the statement has figures, and the passage has them too. */
  coverageWithFigures: 0.5,
  /** How much better two sentences together must be than the best one alone. */
  pairGain: 0.15,
  /** Among sentences with the same words, the one with the figures is preferred. */
  figure: 0.02,
};

/** A passage, counted from 0, and its sentences that are closest to a statement, with the share of its words they contain. */
export type Support = ReturnType<typeof closestMatch>;

/** The passages that support the statement. One that matches more closely and contradicts it outweighs the others. */
export function findSupports(statement: Sentence, evidence: readonly Evidence[]): Support[] {
  const { figures } = statement;
  const threshold = figures.length > 0 ? thresholds.coverageWithFigures : thresholds.coverage;
  const wordings = [...statement.terms].map(listWordings);
  const close = evidence
    .map(({ sentences }, passage) => closestMatch(statement, wordings, sentences, passage))
    .filter(({ coverage }) => coverage >= threshold);
  const { denials = [], supports = [] } = Object.groupBy(close, ({ passage, from, to }) => {
    const { sentences, context } = evidence[passage]!;
    return contradicts(statement, sentences.slice(from, to + 1), context) ? 'denials' : 'supports';
  });
  const denial = Math.max(0, ...denials.map(({ coverage }) => coverage));
  return supports.filter(({ coverage }) => coverage >= denial);
}

/** The sentence that quotes the statement or contains most of its words, or two neighbors if it takes both. */
function closestMatch(
  { wording, figures }: Sentence,
  wordings: readonly (readonly string[])[],
  sentences: readonly Sentence[],
  passage: number,
) {
  let closest = { passage, coverage: 0, from: 0, to: 0 };
  let best = 0;
  const held = sentences.map(({ tokens }) => wordings.map((words) => words.some((word) => tokens.has(word))));
  for (const to of sentences.keys()) {
    for (const from of to === 0 ? [to] : [to, to - 1]) {
      const found = wordings.filter((_, term) => held[from]![term] || held[to]![term]);
      const own = sentences.slice(from, to + 1);
      const agreeing = figures.filter((figure) => own.some((sentence) => agrees(figure, sentence.figures)));
      const isQuote = agreeing.length === figures.length && own.some((one) => one.wording === wording);
      const coverage = isQuote ? 1 : found.length / Math.max(1, wordings.length);
      const cost = from === to ? 0 : thresholds.pairGain;
      const score = coverage + Number(isQuote) + thresholds.figure * agreeing.length - cost;
      if (score > best) [best, closest] = [score, { passage, coverage, from, to }];
    }
  }
  return closest;
}

/** Whether the found sentences contradict the statement: another figure, another name, or the opposite. */
function contradicts(statement: Sentence, found: readonly Sentence[], context: ReadonlySet<string>): boolean {
  const figures = found.flatMap((sentence) => sentence.figures);
  if (!statement.figures.every((figure) => agrees(figure, figures))) return true;
  if (found.some(({ wording }) => wording === statement.wording)) return false;
  const hasTerm = (term: string) => context.has(term) || found.some(({ tokens }) => tokens.has(term));
  // 'UK' may be written for 'Britain'.
  if (!statement.names.every((name) => listWordings(toTerm(name)).some(hasTerm))) return true;
  return isMisattributed(statement, found) || negates(statement, found);
}

const hasName = /(?:^|\s)["“(]?\p{Lu}\p{L}/u;

/** Whether a figure belongs to another name: in 'two months in Spain, 90 days in Portugal', two months are not Portugal's. */
function isMisattributed({ names, figures }: Sentence, found: readonly Sentence[]): boolean {
  if (names.length === 0 || figures.length === 0) return false;
  const text = found.map((sentence) => sentence.text).join('; ');
  const parts = text.split(/[;,]|\band\b/).map((part) => ({
    words: new Set(splitWords(part)),
    figures: extractFigures(part),
    isNamed: hasName.test(part),
  }));
  return names.some((name) => {
    const own = parts.filter(({ words }) => words.has(name));
    if (own.length === 0 || own.some((part) => part.figures.length === 0)) return false;
    return figures.some((figure) => {
      const holders = parts.filter((part) => agrees(figure, part.figures));
      return holders.length > 0 && holders.every((part) => part.isNamed && !own.includes(part));
    });
  });
}

/** Words on the same side of a group agree; words on different sides contradict each other. */
const contrastGroups = `minimum|maximum,always|never,increase|decrease reduce,include|exclude without,
allow permit may|forbid forbidden prohibit ban disallow block,open|close,free|paid cost fee,working business|calendar,
mandatory required|optional,approve accept|reject decline refuse,add|remove,inside|outside,internal|external,
public|private,hot warm|cold,full|partial,monthly|yearly annually|weekly|daily|quarterly,
monday|tuesday|wednesday|thursday|friday|saturday|sunday,
january|february|march|april|june|july|august|september|october|november|december,morning|afternoon|evening|night,
weekday|weekend,spring|summer|autumn|winter,north|south|east|west,buyer|seller,employer|employee,customer|supplier,
adult|child,domestic|international,online|offline,automatic|manual,automatically|manually,temporary|permanent,
enable|disable,encrypted|unencrypted,gross|net,credit|debit,refundable|nonrefundable,possible|impossible,
written|oral verbal,email|telephone|post,rise|fall,higher|lower,larger|smaller,longer|shorter`;

/** Maps each term to the terms that agree with it, including itself, and those that contradict it. */
const contrasts = new Map(
  contrastGroups.split(/,\n?/).flatMap((group) => {
    const sides = group.split('|').map(tokenize);
    return sides.flatMap((same) => {
      const opposite = sides.filter((side) => side !== same).flat();
      return same.map((term) => [term, { same, opposite }] as const);
    });
  }),
);

/** Whether the sentences say the opposite: 'included' for 'excluded', or 'not included' for 'included'. */
function negates({ tokens, negated }: Sentence, found: readonly Sentence[]): boolean {
  const isNegated = (term: string) => found.some((sentence) => sentence.negated.has(term));
  const isAffirmed = (term: string) =>
    found.some((sentence) => sentence.tokens.has(term) && !sentence.negated.has(term));
  const findContrast = (term: string) => contrasts.get(term) ?? { same: [term], opposite: [] };
  const isDenied = (term: string) => {
    const { same, opposite } = findContrast(term);
    return same.some(isNegated) || opposite.some((other) => isAffirmed(other) && !tokens.has(other));
  };
  // One sentence may affirm for shipping what the next one denies for returns.
  if (negated.size > 0) return ![...negated].some(isDenied);
  return [...tokens].some((term) => isDenied(term) && !findContrast(term).same.some(isAffirmed));
}
