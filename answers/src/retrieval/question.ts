import { listWordings } from './other-wordings.ts';
import { stopWords } from './stop-words.ts';
import { splitWords, toTerm } from './terms.ts';

/** One subject of a question: a term, the first word for it, and whether only the context of the question has it. */
export type Concept = ReturnType<typeof extractConcepts>[number];

/** Only the start of a long question is read. */
const readLengthMax = 2_000;
const conceptsMax = 24;

/** After 'how' these words ask for a measure: a passage that answers 'how long' rarely contains 'long'. */
const measures = new Set('long soon often far big old fast quickly large heavy hot'.split(' '));

/** The concepts of a question, and then those of its context. */
export function extractConcepts(question: string, context = '') {
  const concepts = [question, context].flatMap((text, place) => {
    const words = splitWords(text.slice(0, readLengthMax));
    const isMeasure = (word: string, at: number) => words[at - 1] === 'how' && measures.has(word);
    const content = words.filter((word, at) => !stopWords.has(word) && !isMeasure(word, at));
    return content.map((word) => ({ term: toTerm(word), word, isContext: place > 0 }));
  });
  const byTerm = Map.groupBy(concepts, ({ term }) => term);
  return Array.from(byTerm.values(), ([first]) => first!).slice(0, conceptsMax);
}

const number =
  '(?:\\d[\\d.,]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|fifteen|twenty|thirty)';
const span = `${number}[ -](?:\\p{L}+[ -])?(?:second|minute|hour|day|week|month|year)s?\\b`;
const date =
  '\\d[:.]\\d\\d|\\d ?[ap]m\\b|\\b(?:19|20)\\d\\d\\b|day\\b|\\b(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)';

export const priceAsked = /\bcosts?\b|\bprices?\b|\bhow much (?:is|are|do|does|for)\b/i;

/** Questions for a measure, and what a sentence that gives one contains. */
const measured: readonly (readonly [RegExp, RegExp])[] = [
  [/\bhow (?:long|soon|quickly|fast)\b/i, new RegExp(span, 'iu')],
  [priceAsked, /[$€£¥]|\d ?%|\bfree\b/i],
  [/\bwhen\b|\bwhat time\b/i, new RegExp(`${span}|${date}`, 'u')],
  [/\bwhere\b/i, /\b(?:at|in) \d+ \p{Lu}|[~.$%}\w]\/[\w.]|\b(?:address|located)\b/u],
  [/\bwho\b/i, /(?<!\bThe )\b(?!The )\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+/u],
  [/\bhow (?:many|much|old|far|often|big|large)\b|\b(?:maximum|minimum|largest|smallest)\b/i, /\d/],
];
export const definitionAsked =
  /^(?:and )?(?:what(?: is|['’]s| are| does) )?(?:an? |the )?([\w-]+(?: [\w-]+)?)(?: mean| stand for)?\s*\?*$/i;

/**
 * Counts the things in a text that an answer to the question is expected to contain: a duration, an amount, a number, a name,
 * what a thing is. All or none: a sentence that has several is less likely to have them by chance.
 */
export function expectedBy(question: string) {
  const patterns = expectedPatterns(question.slice(0, readLengthMax).trim());
  if (patterns.length === 0) return undefined;
  return (text: string) => (patterns.every((pattern) => pattern.test(text)) ? patterns.length : 0);
}

function expectedPatterns(asked: string): readonly RegExp[] {
  const thing = definitionAsked.exec(asked)?.[1];
  if (thing !== undefined) return [buildDefinitionPattern(thing)];
  const counted = /\bhow many (\p{L}{3,})/iu.exec(asked)?.[1];
  if (counted !== undefined) return [buildCountPattern(counted)];
  // 'Who founded it, and when?' asks for a name and a date.
  const parts = asked.split(/\band\b/i);
  return parts.flatMap((part) => measured.find(([ask]) => ask.test(part))?.slice(1) ?? []);
}

/** '34 countries', '8 participants' for 'how many people'. */
function buildCountPattern(counted: string): RegExp {
  const things = [counted.replace(/(?:ie|e)?s$/, ''), ...listWordings(toTerm(counted))];
  return new RegExp(`\\b${number} (?:\\p{L}+ ){0,2}(?:${things.join('|')})`, 'iu');
}

/** 'A skein is …', 'Skein: …'. */
function buildDefinitionPattern(thing: string): RegExp {
  return new RegExp(
    `^["“*]*(?:(?:an?|the)\\s+)?${thing}s?["”*]*(?:\\s*\\([^()]{1,60}\\))?(?:\\s+(?:is|are|means?|stands?|refers?)\\b|:\\s)`,
    'i',
  );
}
