/** A citation of a draft, or several that stand together: `[1]`, `[2][3]`, `[1] and [2]`. */
export interface Citation {
  /** With the blanks before it, unless the sentence needs it. */
  readonly from: number;
  readonly to: number;
  /** Counted from 1, in order. */
  readonly passages: readonly number[];
  /** Whether the sentence speaks of it, and is none without: `As [1] says, …` */
  readonly isWord: boolean;
}

/** Not a link: `[2](…)`. Code is matched so that it is passed over. */
const bracket = /`[^`\n]*`|\[\^?(\d{1,3}(?: {0,2}[,;] {0,2}\d{1,3})*)\](?!\()/g;
/** What may stand between the citations of one statement. */
const joint = /^ {0,2}(?:[,;&]|,? (?:and|or))? {0,2}$/;
const jointLengthMax = 8;
/** An index of something: `list[1]`. Where no blanks are written, a letter may come right before a citation. */
const touching =
  /[\p{L}\p{N}_)\]](?<![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])$/u;

/** The citations of a line in order. Takes time linear in the line, whatever it holds. */
export function citationsIn(line: string): Citation[] {
  const groups: { from: number; to: number; passages: number[] }[] = [];
  for (const match of line.matchAll(bracket)) {
    if (match[1] === undefined || /^0+$/.test(match[1])) continue;
    const passages = match[1].split(/[,;]/).map(Number);
    const from = match.index;
    const to = from + match[0].length;
    const last = groups.at(-1);
    const gap = last === undefined ? Number.POSITIVE_INFINITY : from - last.to;
    if (last !== undefined && gap <= jointLengthMax && joint.test(line.slice(last.to, from))) {
      last.to = to;
      last.passages.push(...passages);
    } else if (!isIndex(line, from, to)) {
      groups.push({ from, to, passages });
    }
  }
  return groups.map((group) => {
    const isWord = isPartOfSentence(line, group);
    return { ...group, ...(isWord ? {} : removalOf(line, group)), isWord };
  });
}

/** `list[1]`, but not `within 30 days[1].`: many models write no blank before a citation that ends a clause. */
function isIndex(line: string, from: number, to: number): boolean {
  if (from === 0 || !touching.test(line.slice(Math.max(0, from - 2), from))) return false;
  const endsClause = /^(?:\[\d|[.,;:!?)"”’*_]+(?:\s|$)|$)/.test(line.slice(to, to + 8));
  return !(endsClause && /\p{L}{2}$|\d[%.]?$|\)$/u.test(line.slice(Math.max(0, from - 3), from)));
}

/** What goes with a citation that is taken away: the blanks before it, or after it where it begins the line. */
function removalOf(line: string, { from, to }: { from: number; to: number }): { from: number; to: number } {
  const isEnclosed = line[from - 1] === '(' && line[to] === ')';
  const start = isEnclosed ? from - 1 : from;
  let end = isEnclosed ? to + 1 : to;
  const before = endOfText(line, start);
  if (before === 0) while (/\s/.test(line.charAt(end))) end++;
  return { from: before, to: end };
}

/** Where the blanks begin that stand before this place. */
function endOfText(line: string, at: number): number {
  let end = at;
  while (end > 0 && /\s/.test(line.charAt(end - 1))) end--;
  return end;
}

const leadsOn = words(
  'to in of by from per via under with see as both on at for than cf also and or nor read check consult compare cites',
  'quotes between against unlike like is are document documents source sources passage passages reference references',
  'excerpt excerpts citation citations footnote footnotes section sections',
);
const leadsOnWithWords = words(
  'that while whereas although though if when where but because since says said mentions confirms contradicts supports',
  'follows replaces supersedes amends updates extends overrides repeats',
);
const says =
  /^\s+(?:say|state|explain|mention|note|describe|confirm|specif(?:y|ie)|add|write|define|list|show|suggest)e?s?\b/;
const readBefore = 40;

function isPartOfSentence(line: string, { from, to }: { from: number; to: number }): boolean {
  const end = endOfText(line, from);
  const before = line.slice(Math.max(0, end - readBefore), end);
  const after = line.slice(to, to + readBefore);
  const isFollowed = /^\s+["“(*_]*\p{L}/u.test(after);
  const word = /(\p{L}+)["“(*_]*$/u.exec(before)?.[1]?.toLowerCase() ?? '';
  if (leadsOn.has(word) || (isFollowed && leadsOnWithWords.has(word))) return true;
  if (/^$|[.!?…:][)"”’*_]*$/.test(before)) return /^\s+\p{Ll}/u.test(after);
  return /[,;–—-]$/.test(before) && says.test(after);
}

function words(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(' '));
}
