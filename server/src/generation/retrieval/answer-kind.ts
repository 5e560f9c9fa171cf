/** What a question asks for, where its words tell. */
export type AnswerKind =
  | 'duration'
  | 'time'
  | 'money'
  | 'number'
  | 'person'
  | 'place'
  | 'reason'
  | 'steps'
  | 'list'
  | 'definition';

const timeUnits = '(?:second|minute|hour|day|week|fortnight|month|quarter|year)s?';

const askedBy: readonly (readonly [AnswerKind, RegExp])[] = [
  ['duration', new RegExp(`\\bhow (?:long|soon|quickly|fast)\\b|\\bhow many (?:\\w+ )?${timeUnits}\\b`)],
  [
    'money',
    /\bhow (?:much (?:does|do|is|are|will|would|did|money)|expensive)\b|\bwhat\b.{0,40}\b(?:costs?|price|fee|salary|fine)\b|\bcosts? (?:me )?(?:anything|something|extra|money)\b/,
  ],
  [
    'number',
    /\bhow (?:many|much|far|big|large|heavy|tall|old|often|warm|hot|cold|high|deep|wide)\b|\bwhat (?:amount|percentage|share|number|size|temperature)\b|\b(?:minimum|maximum|largest|smallest|highest|lowest|longest|shortest|rate|limit)\b/,
  ],
  [
    'time',
    /\bwhen\b|\b(?:what|which) (?:time|date|day|month|year|hours)\b|\bby what\b|\bsince when\b|\bdeadline\b|\b(?:opening|closing) (?:time|hour)s?\b/,
  ],
  ['person', /\bwho(?:m|se)?\b|\bwhich (?:person|team|department|manager)\b/],
  ['place', /\bwhere\b|\bwhich (?:city|country|building|room|floor|place)\b|\bwhat (?:address|place|room)\b/],
  ['reason', /\bwhy\b|\bwhat (?:is the )?reason\b|\bhow come\b/],
  ['steps', /\bhow (?:do|can|should|would|to|must)\b|\bsteps?\b|\bprocedure\b/],
  [
    'definition',
    /^(?:(?:and )?what(?: is|['’]s| are| does) |(?:what|how) about )?(?:an? |the )?[\w-]+(?: [\w-]+)?(?: mean| stand for)?\s*\?*$/,
  ],
  ['list', /\bwhich\b|\bwhat (?:are|kinds?|types?|sorts?|options|methods)\b|\blist\b/],
];

/** Undefined: a plain question, or none. */
export function answerKindOf(question: string): AnswerKind | undefined {
  const asked = question.slice(0, 2_000).toLowerCase().replaceAll(/\s+/g, ' ');
  return askedBy.find(([, pattern]) => pattern.test(asked))?.[0];
}

const count =
  '(?:\\d[\\d.,]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen|twenty|thirty|forty|fifty|sixty|ninety)';
const months = 'january|february|march|april|may|june|july|august|september|october|november|december';
const weekdays = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?';

const givenBy: Partial<Record<AnswerKind, RegExp>> = {
  duration: new RegExp(
    `\\b${count}(?:[ -](?:to|or|and|–|full|working|business|calendar))?(?:[ -]${count})?[ -](?:full |working |business |calendar |consecutive )?${timeUnits}\\b|\\b(?:immediately|at once|indefinitely|forever|overnight|the same day|for life)\\b`,
    'i',
  ),
  time: new RegExp(
    `\\b\\d{1,2}[:.]\\d\\d\\b|\\b\\d{1,2} ?[ap]\\.?m\\b|\\b(?:${months})\\b|\\b${weekdays}\\b|\\b(?:19|20)\\d\\d\\b|\\b(?:noon|midnight|daily|annually|monthly|quarterly|weekly)\\b|\\b${count}[ -](?:working |business |calendar )?${timeUnits}\\b|\\b(?:before|after|within|until|every|once|as soon as)\\b`,
    'i',
  ),
  money:
    /[$€£¥]\s?\d|\b\d[\d.,]*\s?(?:%|[$€£¥]|(?:dollars?|euros?|pounds?|cents?|francs?|usd|eur|gbp|chf|percent|per cent)\b)|\bfree\b|\bno (?:charge|cost|fee)\b/i,
  number: new RegExp(`\\d|\\b(?:no|none|unlimited|once|twice|${count.slice(3)}\\b`, 'i'),
  person:
    /\b(?:team|manager|officer|department|lead|director|owner|head of|desk|committee|board|council|administrator|employees?|staff|members?|customers?|everyone|anyone|nobody|contractors?|representative|editor|author|colleague|technician|engineer|supervisor|chair|secretary|treasurer|librarian|doctor|nurse)\b|[a-z,] (?:[A-Z][a-z]+ [A-Z][a-z]+)/,
  place:
    /\b(?:at|in|on|behind|near|beside|opposite|next to|from|to) (?:the |a )?(?:\d+ )?(?!\p{L}{3,6}day|(?:Jan|Febr)uary|March|April|May\b|June|July|August|(?:Septem|Octo|Novem|Decem)ber)\p{Lu}\p{L}|\b(?:street|lane|road|avenue|square|floor|room|building|corner|address|located|page|menu|folder|portal|tab|settings)\b|https?:/u,
  reason:
    /, so\b|\b(?:because|since|so that|in order to|therefore|reason|due to|as it|to (?:avoid|prevent|keep|protect|ensure|make|reduce|save))\b/i,
  steps:
    /^to \p{L}+|\b(?:type|run|create|command|tap|first|then|next|click|select|open|choose|press|go to|fill|submit|send|contact|write to|call|ask|use|log in|sign in|enter|follow|visit|turn|place|put|must|should)\b/iu,
  list: /(?:^|\n)- |\p{L}, [^.;:]{1,60} (?:and|or) /u,
};

/** Matches a text with a sentence that says what the thing of these words is: 'A skein is …', 'Skein: …'. */
export function definitionOf(words: readonly string[]): RegExp {
  const thing = words.join('[\\s-]+(?:(?:of|the|an?|for|and)\\s+)*');
  return new RegExp(
    `(?:(?:^|\\n)(?:- )?|[.!?]\\s+)["“*]*(?:(?:an?|the)\\s+)?${thing}s?["”*]*(?:\\s*\\([^()]{1,60}\\))?(?:\\s+(?:is|are|means?|stands?|refers?)\\b|[:.]\\s)`,
    'i',
  );
}

/** Matches a text that says how many of a thing there are: '34 countries'. */
export function countOf(word: string): RegExp {
  const stem = word.toLowerCase().replace(/(?:ies|es|s)$/, '');
  return new RegExp(`\\b${count} (?:\\p{L}+ ){0,2}${stem}`, 'iu');
}

const whereIs = /^where(?: is|['’]s| are) (?:an? |the |your |our )?[\w-]+(?: [\w-]+)?\s*\?*$/i;

/** Whether it asks where a thing is, and nothing else. */
export function asksWhereIs(question: string): boolean {
  return whereIs.test(question.slice(0, 200).trim());
}

/** Matches a text with a sentence that says where the thing of these words is: 'The shop stands at 14 Weir Lane.' */
export function locationOf(words: readonly string[]): RegExp {
  return new RegExp(
    `\\b${words.join('[\\s-]+')}s?\\s+(?:is|are|stands?|lies?|hangs?|sits?)\\s+(?:\\p{L}+\\s+)?(?:at|in|on|behind|beside|between|near|next to|opposite|under|above|inside|outside)\\b`,
    'iu',
  );
}

/** Whether a text has what such a question asks for; true where nobody could tell. */
export function givesAnswerOf(kind: AnswerKind, text: string): boolean {
  return givenBy[kind]?.test(text) ?? true;
}
