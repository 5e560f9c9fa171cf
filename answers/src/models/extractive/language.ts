/** The most frequent words of questions and plain texts. */
const frequentWords = {
  English: `the of and to is in what how does do can are for with my who when where why which you i a an it be this that
    from on at by as or not your we our have has much many long will should if there any me get`,
  German: `der die das den dem des und ist sind wie was wer wo wann warum welche welcher welches wieviel kann ich ein eine
    einen einer nicht mit für auf von zu zum zur im wird gibt es man mein meine wir ihr sie kostet viel lange haben werden`,
  French: `le la les des du de un une est sont comment quel quelle quels quelles combien qui que quoi où quand pourquoi je
    tu nous vous vos votre mon ma mes pas pour avec dans sur au aux et il elle puis peut faire coûte`,
  Spanish: `el la los las un una de del es son cómo qué quién cuál cuáles dónde cuándo cuánto cuánta cuántos cuesta puedo
    puede para por con en y no se mi su hay tiene hacer`,
  Italian: `il lo la gli le un una di del della dei è sono come che cosa chi quale quali dove quando quanto quanta quanti
    costa perché posso può per con nel nella non e mio si ci fare`,
  Portuguese: `o os a as um uma de do da dos das é são como que quem qual quais onde quando quanto quanta quantos custa
    posso pode para por com em no na não e meu minha há fazer`,
  Dutch: `de het een is zijn hoe wat wie waar wanneer waarom welke hoeveel kan ik je jullie mijn niet voor met van naar op
    in er en te om kost lang veel worden wordt moet mag hebben heeft`,
  Polish: `jest są jak co kto gdzie kiedy dlaczego który która które ile kosztuje czy nie się na do po z w i o dla mogę
    można mój jaki jaka jakie`,
  Swedish: `och är en ett den det hur vad vem var när varför vilken vilket vilka kan jag du vi ni inte för med på av till
    i som kostar mycket många lång min mitt har ska`,
  Danish: `og er en et den det hvordan hvad hvem hvor hvornår hvorfor hvilken hvilke kan jeg du vi ikke for med på af til
    i som koster meget mange lang min mit har skal`,
};

const vocabularies = Object.entries(frequentWords).map(([language, words]) => {
  return { language, words: new Set(words.split(/\s+/)) };
});

/** Japanese comes before Chinese because it also uses Chinese characters. */
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
/** The share of a text's letters that must be in a script. */
const scriptShare = 0.3;

/** The language of a text, if its script or the most frequent words identify one. */
export function detectLanguage(text: string): string | undefined {
  const letters = count(text, /\p{L}/gu);
  const script = scripts.find(([, pattern]) => count(text, pattern) > scriptShare * letters);
  if (script !== undefined) return script[0];
  const read = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const scores = vocabularies.map(({ words }) => read.filter((word) => words.has(word)).length);
  const best = Math.max(...scores);
  const isClear = best > 0 && scores.indexOf(best) === scores.lastIndexOf(best);
  return isClear ? vocabularies[scores.indexOf(best)]!.language : undefined;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
