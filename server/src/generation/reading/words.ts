const ideograph = /[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]/g;
const longWordLength = 30;

/**
 * Estimates the number of words. Two characters of a script without spaces count as a word, and a very long word counts
 * as several, so that texts with the same number of words have similar lengths.
 */
export function countWords(text: string): number {
  const ideographs = text.match(ideograph)?.length ?? 0;
  const spaced = ideographs === 0 ? text : text.replace(ideograph, ' ');
  let words = Math.ceil(ideographs / 2);
  for (const word of spaced.match(/\S+/g) ?? []) words += 1 + Math.floor(word.length / longWordLength);
  return words;
}
