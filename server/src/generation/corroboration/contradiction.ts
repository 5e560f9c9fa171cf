import { synonymsOf } from '../retrieval/synonyms.ts';
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
  return saysContrast(claim, isSaid) || negatesOtherwise(claim, evidence, window);
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

/** Pairs of words that contradict each other in the same position. */
const contrastGroups = `minimum maximum,always never,increase decrease reduce,include exclude without,allow forbid prohibit ban,
permit forbid prohibit ban,open close,free paid cost fee,allow block,permit block,may block,working calendar,business calendar,
mandatory optional,required optional,approve reject decline,accept reject refuse,add remove,inside outside,internal external,
public private,hot cold,warm cold,full partial,monthly yearly annually weekly daily quarterly,
monday tuesday wednesday thursday friday saturday sunday,
january february march april june july august september october november december,morning afternoon evening night,
weekday weekend,spring summer autumn winter,north south east west,buyer seller,employer employee,customer supplier,
adult child,domestic international,online offline,automatic manual,automatically manually,temporary permanent,enable disable,
encrypted unencrypted,gross net,credit debit,refundable nonrefundable,possible impossible,written oral verbal,
email telephone post,rise fall,higher lower,larger smaller,longer shorter`;
const contrasts = new Map<string, string[]>();
for (const group of contrastGroups.split(/,\n?/)) {
  const terms = group.split(' ').map((word) => tokensOf(word)[0]!);
  for (const term of terms) {
    contrasts.set(term, [...(contrasts.get(term) ?? []), ...terms.filter((other) => other !== term)]);
  }
}

/** Whether the sentences say 'included' and the claim says 'excluded'. */
function saysContrast(claim: Claim, isSaid: (term: string) => boolean): boolean {
  return [...claim.tokens].some((term) => {
    if (isSaid(term) || claim.negated.has(term)) return false;
    return contrasts.get(term)?.some((other) => isSaid(other) && !claim.tokens.has(other));
  });
}

/** Whether only one of the two is negated. */
function negatesOtherwise(claim: Claim, evidence: Evidence, window: Window): boolean {
  const negated = new Set(evidence.negated.slice(window.from, window.to + 1).flatMap((terms) => [...terms]));
  const holders = (term: string) => holdersIn(evidence, window, term);
  if (claim.negated.size > 0) {
    return ![...claim.negated].some(
      (term) => negated.has(term) || contrasts.get(term)?.some((other) => holders(other).length > 0),
    );
  }
  return claim.terms.some(
    ({ term }) => negated.has(term) && holders(term).every((at) => evidence.negated[at]!.has(term)),
  );
}

function holdersIn({ holders }: Evidence, { from, to }: Window, term: string): number[] {
  return (holders.get(term) ?? []).filter((at) => at >= from && at <= to);
}
