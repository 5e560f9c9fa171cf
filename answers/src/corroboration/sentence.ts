import type { FoundPassage } from '../port/documents.ts';
import { splitSentences } from '../reading/passage-parts.ts';
import { stopWords } from '../retrieval/stop-words.ts';
import { splitWords, tokenize, toTerm } from '../retrieval/terms.ts';

export type Evidence = ReturnType<typeof readEvidence>;

export function readEvidence(passage: FoundPassage) {
  const sentences = splitSentences(passage.text).map(readSentence);
  /** They apply to every sentence. */
  const context = new Set(tokenize(`${passage.title}. ${passage.heading}`));
  return { ...passage, sentences, context };
}

export type Sentence = ReturnType<typeof readSentence>;

/** Reads a sentence of a draft or of a passage once, to compare it with many others. */
export function readSentence(text: string) {
  const words = splitWords(text);
  const figures = extractFigures(text);
  const units = new Set(figures.map(({ unit }) => toTerm(unit ?? '')));
  const content = words.filter((word) => !stopWords.has(word) && !/^\d/.test(word)).map(toTerm);
  return {
    text,
    /** Its words in order, to compare it word for word. */
    wording: words.join(' '),
    tokens: new Set(words.map(toTerm)),
    /** Its content words, without figures and their units. */
    terms: new Set(content.filter((term) => !units.has(term))),
    /** Its words with a capital letter, except the first. */
    names: extractNames(text),
    figures,
    /** The terms that it denies. */
    negated: negatedTerms(text),
  };
}

const capitalized = /(?<=[\p{L}\p{N},;)]["”’]?\s)["“(]?(\p{Lu}[\p{L}\p{N}-]+)/gu;

function extractNames(text: string): string[] {
  const words = [...text.matchAll(capitalized)].flatMap((match) => splitWords(match[1]!));
  return [...new Set(words)].filter((word) => !stopWords.has(word));
}

const cues = new Set('not no never cannot none nor neither nobody nothing'.split(' '));
/** How many words a negation reaches, stop words not counted. */
const negatedMax = 2;
/** How many words after a 'not' are checked, so that 'not not not …' takes linear time. */
const reachMax = 30;

/** The terms that follow a negating word within its clause. */
function negatedTerms(text: string): Set<string> {
  const negated = new Set<string>();
  for (const clause of text.split(/[,;:()—–]|\bbut\b|\bunless\b|\bexcept\b/i)) {
    const words = splitWords(clause);
    for (const [at, word] of words.entries()) {
      if (!cues.has(word) || words[at + 1] === 'only') continue;
      const following = words.slice(at + 1, at + 1 + reachMax);
      // 'not used for 30 days' negates only the verb, not the words after it.
      const end = following.includes('used') ? following.indexOf('used') : reachMax;
      const content = following.slice(0, end).filter((next) => !stopWords.has(next) && !/^\d/.test(next));
      for (const next of content.slice(0, negatedMax)) negated.add(toTerm(next));
    }
  }
  return negated;
}

/** A number with its unit, if a known one follows: `30 days`, `$49.00`, `5 %`. */
type Figure = ReturnType<typeof extractFigures>[number];

const ones =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen';
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety hundred';
const numberWords = new Map<string, number>([
  ...ones.split(' ').map((word, at) => [word, at] as const),
  ...tens.split(' ').map((word, at) => [word, 20 + 10 * at] as const),
  ...Object.entries({ once: 1, twice: 2, single: 1, half: 0.5, dozen: 12 }),
]);
/** Words that are numbers only before a unit: 'one of them' is not a figure. */
const vague = new Set(['one', 'single']);

/** Units, separated by commas, each followed by other names for it. */
const unitGroups = `$ dollar usd,€ euro eur,£ pound gbp,¥,% percent per_cent,°c,°f,° degree,second sec,minute min,hour hr h,
day,night,week,fortnight,month,quarter,year,decade,kg kilogram kilo,g gram,m metre meter,cm centimetre centimeter,
mm millimetre millimeter,km kilometre kilometer,mile,yard,foot feet,inch,gb gigabyte,mb megabyte,tb terabyte,kb kilobyte,
l litre liter,ml,am a.m,pm p.m,cent,franc,time,hz,mhz,ghz,watt,volt,point`;
const units = new Map(
  unitGroups.split(/,\n?/).flatMap((group) => {
    const names = group.split(' ');
    return names.map((name) => [name.replace('_', ' '), names[0]!] as const);
  }),
);

const numberPattern =
  /([$€£¥])?\s?(?<![\p{L}\p{N}.])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.:]\d+)?)(?:st|nd|rd|th)?(?:\s?(k|million|billion)\b)?/giu;
const wordPattern = new RegExp(`\\b(?:${[...numberWords.keys()].join('|')})\\b`, 'gi');
/** A unit after a number, with a word that may separate them. */
const unitPattern =
  /^[\s-]{0,2}(?:(?:working|business|calendar|full|consecutive|more|school|whole)[\s-])?([$€£¥%]|°[cf]?|per cent|[ap]\.m|\p{L}+)/iu;

/** The figures of a text. Takes linear time: only a few characters after each number are read. */
export function extractFigures(written: string) {
  const text = written.replace(/\bhalf an hour\b/gi, '30 minutes');
  const numerals = Array.from(text.matchAll(numberPattern), (match) => {
    const times = { k: 1_000, million: 1e6, billion: 1e9 }[match[3]?.toLowerCase() ?? ''] ?? 1;
    const value = Number(match[2]!.replace(':', '.').replaceAll(',', '')) * times;
    return { value, unit: match[1] ?? unitAfter(text, match.index + match[0].length) };
  });
  const words = [...text.matchAll(wordPattern)].flatMap(({ index, 0: written }) => {
    const word = written.toLowerCase();
    const unit = unitAfter(text, index + word.length);
    return unit === undefined && vague.has(word) ? [] : [{ value: numberWords.get(word)!, unit }];
  });
  return [...numerals, ...words];
}

function unitAfter(text: string, from: number): string | undefined {
  const word = unitPattern.exec(text.slice(from, from + 40))?.[1]?.toLowerCase();
  return word === undefined ? undefined : (units.get(word) ?? units.get(word.replace(/s$/, '')));
}

/** Whether one of the figures has the same value and no different unit. */
export function agrees(figure: Figure, figures: readonly Figure[]): boolean {
  return figures.some(
    ({ value, unit }) =>
      value === figure.value && (unit === figure.unit || unit === undefined || figure.unit === undefined),
  );
}
