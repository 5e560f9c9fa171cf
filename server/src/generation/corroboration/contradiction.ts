import { synonymsOf } from '../retrieval/other-wordings.ts';
import { termOf, tokensOf, wordsOf } from '../retrieval/terms.ts';
import type { Claim, Evidence } from './claim.ts';
import { agrees, type Figure, figuresOf } from './figures.ts';

/** The sentences of a passage that are about the claim. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Whether these sentences contradict the claim: another figure, another name, or the opposite. */
export function contradicts(claim: Claim, evidence: Evidence, window: Window): boolean {
  const { from, to } = window;
  const figures = evidence.figures.slice(from, to + 1).flat();
  if (!claim.figures.every((figure) => agrees(figure, figures))) return true;
  const isSaid = (term: string) => evidence.context.has(term) || holdersIn(evidence, window, term).length > 0;
  // 'UK' may be written for 'Britain'.
  const isNamed = (term: string) => [term, ...synonymsOf(term)].some(isSaid);
  if (!claim.names.every((name) => isNamed(termOf(name)))) return true;
  const text = evidence.sentences.slice(from, to + 1).join('; ');
  if (isMisattributed(text, claim.names, claim.figures)) return true;
  const negated = new Set(evidence.negated.slice(from, to + 1).flatMap((terms) => [...terms]));
  return saysContrast(claim, isSaid, negated) || negatesOtherwise(claim, evidence, window, negated);
}

const hasName = /(?:^|\s)["“(]?\p{Lu}\p{L}/u;

/**
 * Whether a figure belongs to another name: in 'two months in the Netherlands, 90 days in Portugal' the two months are
 * not Portugal's.
 */
function isMisattributed(text: string, names: readonly string[], figures: readonly Figure[]): boolean {
  if (names.length === 0 || figures.length === 0) return false;
  const parts = text.split(/[;,]|\band\b/).map((part) => ({
    words: new Set(wordsOf(part)),
    figures: figuresOf(part),
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

interface Contrast {
  /** The term itself, and those that agree with it. */
  readonly same: readonly string[];
  readonly opposite: readonly string[];
}

const contrasts = new Map<string, Contrast>();
for (const group of contrastGroups.split(/,\n?/)) {
  const sides = group.split('|').map(tokensOf);
  for (const same of sides) {
    const opposite = sides.filter((side) => side !== same).flat();
    for (const term of same) contrasts.set(term, { same, opposite });
  }
}

function contrastOf(term: string): Contrast {
  return contrasts.get(term) ?? { same: [term], opposite: [] };
}

/** Whether the sentences say 'included' and the claim says 'excluded'. What they negate does not count: 'not included'. */
function saysContrast(
  claim: Claim,
  isSaid: (term: string) => boolean,
  negated: ReadonlySet<string>,
): boolean {
  return [...claim.tokens].some((term) => {
    const { same, opposite } = contrastOf(term);
    if (claim.negated.has(term) || same.some(isSaid)) return false;
    return opposite.some((other) => isSaid(other) && !claim.tokens.has(other) && !negated.has(other));
  });
}

/** Whether one of the two says what the other denies. */
function negatesOtherwise(
  claim: Claim,
  evidence: Evidence,
  window: Window,
  negated: ReadonlySet<string>,
): boolean {
  const holders = (term: string) => holdersIn(evidence, window, term);
  if (claim.negated.size > 0) {
    return ![...claim.negated].some((term) => {
      const { same, opposite } = contrastOf(term);
      return same.some((one) => negated.has(one)) || opposite.some((other) => holders(other).length > 0);
    });
  }
  const isNegated = (term: string) =>
    negated.has(term) && holders(term).every((at) => evidence.negated[at]!.has(term));
  return claim.terms.some(({ term }) => contrastOf(term).same.some(isNegated));
}

function holdersIn({ holders }: Evidence, { from, to }: Window, term: string): number[] {
  return (holders.get(term) ?? []).filter((at) => at >= from && at <= to);
}
