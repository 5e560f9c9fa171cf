/** Words that are frequent in one language and rare in the others. */
const frequentWords: Readonly<Record<string, string>> = {
  English: 'the of and to is in what how does do can are for with my who when where why which you',
  German: 'der die das und ist wie was kann ich ein eine nicht wo wann welche wird mit für auf sind gibt',
  French: 'le la les des est comment quel quelle puis je une pas où quand pour avec sont dans combien qui',
  Spanish: 'el los las es cómo qué puedo una no dónde cuándo para con son en cuál cuánto quién por del',
  Italian: 'il gli è come che cosa posso una non dove quando per con sono nel quale quanto chi della di',
  Portuguese: 'o os as é como que posso uma não onde quando para com são em qual quanto quem do da',
  Dutch: 'de het een is hoe wat kan ik niet waar wanneer voor met zijn welke wie waarom van er mijn',
  Polish: 'jest jak co czy nie gdzie kiedy dla który ile się na do po mogę jaki w z o są',
};

/** In this order: Japanese is written in Chinese characters as well. */
const scripts: readonly (readonly [string, RegExp])[] = [
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['Chinese', /\p{Script=Han}/gu],
  ['Korean', /\p{Script=Hangul}/gu],
  ['Russian or another language in Cyrillic', /\p{Script=Cyrillic}/gu],
  ['Greek', /\p{Script=Greek}/gu],
  ['Arabic', /\p{Script=Arabic}/gu],
  ['Hebrew', /\p{Script=Hebrew}/gu],
  ['Hindi or another language in Devanagari', /\p{Script=Devanagari}/gu],
  ['Thai', /\p{Script=Thai}/gu],
];
/** Which part of a text's letters must be of a script. */
const scriptShare = 0.3;

const languages = Object.entries(frequentWords).map(([name, words]) => ({
  name,
  words: new Set(words.split(' ')),
}));
const foundMin = 2;

/** The language a text is written in, where its script or its most frequent words tell. */
export function languageOf(text: string): string | undefined {
  const letters = count(text, /\p{L}/gu);
  const script = scripts.find(([, pattern]) => count(text, pattern) > scriptShare * letters);
  if (script !== undefined) return script[0];
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counted = languages
    .map(({ name, words: known }) => ({ name, found: words.filter((word) => known.has(word)).length }))
    .sort((a, b) => b.found - a.found);
  const [first, second] = counted;
  return first!.found >= foundMin && first!.found > second!.found ? first!.name : undefined;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
