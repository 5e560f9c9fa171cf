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

const scripts: readonly (readonly [string, RegExp])[] = [
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['Chinese', /\p{Script=Han}/u],
  ['Korean', /\p{Script=Hangul}/u],
  ['Russian or another language in Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Arabic', /\p{Script=Arabic}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Hindi or another language in Devanagari', /\p{Script=Devanagari}/u],
  ['Thai', /\p{Script=Thai}/u],
];

const languages = Object.entries(frequentWords).map(([name, words]) => ({
  name,
  words: new Set(words.split(' ')),
}));
const foundMin = 2;

/** The language a text is written in, where its script or its most frequent words tell. */
export function languageOf(text: string): string | undefined {
  const script = scripts.find(([, pattern]) => pattern.test(text));
  if (script !== undefined) return script[0];
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counted = languages
    .map(({ name, words: known }) => ({ name, found: words.filter((word) => known.has(word)).length }))
    .sort((a, b) => b.found - a.found);
  const [first, second] = counted;
  return first!.found >= foundMin && first!.found > second!.found ? first!.name : undefined;
}
