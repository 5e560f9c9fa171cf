/** A number with what it counts: `30 days`, `$49.00`, `5 %`. */
export interface Figure {
  readonly value: number;
  /** 'day', '$', '%'; undefined where nothing that we know follows. */
  readonly unit: string | undefined;
}

const numberWords: Record<string, number> = {
  zero: 0,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  thirteen: 13,
  fourteen: 14,
  fifteen: 15,
  sixteen: 16,
  seventeen: 17,
  eighteen: 18,
  nineteen: 19,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
  ninety: 90,
  hundred: 100,
  once: 1,
  twice: 2,
  half: 0.5,
  dozen: 12,
};
/** 'one' counts only before something that is counted. */
const one = 'one|a single|single';

const units: Record<string, string> = {
  $: '$',
  '€': '€',
  '£': '£',
  '¥': '¥',
  '%': '%',
  '°c': '°c',
  '°f': '°f',
  '°': '°',
  dollar: '$',
  usd: '$',
  euro: '€',
  eur: '€',
  pound: '£',
  gbp: '£',
  percent: '%',
  'per cent': '%',
  degree: '°',
  sec: 'second',
  min: 'minute',
  hr: 'hour',
  h: 'hour',
  kilogram: 'kg',
  kilo: 'kg',
  gram: 'g',
  metre: 'm',
  meter: 'm',
  centimetre: 'cm',
  centimeter: 'cm',
  millimetre: 'mm',
  millimeter: 'mm',
  kilometre: 'km',
  kilometer: 'km',
  gigabyte: 'gb',
  megabyte: 'mb',
  terabyte: 'tb',
  kilobyte: 'kb',
  litre: 'l',
  liter: 'l',
  'a.m': 'am',
  'p.m': 'pm',
};
const plainUnits =
  'second minute hour day night week fortnight month quarter year decade kg g m cm mm km mile yard foot inch gb mb tb kb l ml am pm cent franc time hz mhz ghz watt volt point';
for (const unit of plainUnits.split(' ')) units[unit] = unit;

const numberPattern =
  /([$€£¥])?\s?(?<![\p{L}\p{N}.])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.:]\d+)?)(?:st|nd|rd|th)?(?:\s?(k|million|billion)\b)?/giu;
const wordPattern = new RegExp(
  `\\b(${Object.keys(numberWords).join('|')}|(?:${one})(?=[ -]\\p{L}))\\b`,
  'giu',
);
/** What may stand between a number and what it counts. */
const unitPattern =
  /^[\s-]{0,2}(?:(?:working|business|calendar|full|consecutive|more|school|whole)[\s-])?([$€£¥%]|°[cf]?|per cent|[ap]\.m|\p{L}+)/iu;

/** Every figure of a text. Linear: each number is looked at once, with the few characters that follow it. */
export function figuresOf(written: string): Figure[] {
  const figures: Figure[] = [];
  const text = written.replace(/\bhalf an hour\b/gi, '30 minutes');
  for (const match of text.matchAll(numberPattern)) {
    const digits = match[2]!;
    const times = { k: 1_000, million: 1e6, billion: 1e9 }[match[3]?.toLowerCase() ?? ''] ?? 1;
    const value = digits.includes(':')
      ? Number(digits.replace(':', '.'))
      : Number(digits.replaceAll(',', '')) * times;
    figures.push({ value, unit: match[1] ?? unitAfter(text, match.index + match[0].length) });
  }
  for (const match of text.matchAll(wordPattern)) {
    const unit = unitAfter(text, match.index + match[0].length);
    const word = match[1]!.toLowerCase();
    const value = numberWords[word] ?? 1;
    // 'one of them', 'one another' count nothing.
    if (numberWords[word] === undefined && unit === undefined) continue;
    figures.push({ value, unit });
  }
  return figures;
}

function unitAfter(text: string, from: number): string | undefined {
  const word = unitPattern.exec(text.slice(from, from + 40))?.[1]?.toLowerCase();
  if (word === undefined) return undefined;
  return units[word] ?? units[word.replace(/s$/, '')] ?? (word === 'feet' ? 'foot' : undefined);
}

/** Whether one of these says the same: the same value, and not of something else. */
export function agrees(figure: Figure, figures: readonly Figure[]): boolean {
  return figures.some(
    ({ value, unit }) =>
      value === figure.value && (unit === figure.unit || unit === undefined || figure.unit === undefined),
  );
}
