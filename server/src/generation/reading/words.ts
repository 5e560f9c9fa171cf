const ideograph = /[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]/g;
const lengthOfLongWord = 30;

/**
 * About how many words a text has. Where no spaces are written two characters count as one, and a run of characters
 * that is too long for a word counts as several, so that a text of N words is never much longer than others of N.
 */
export function countWords(text: string): number {
  const ideographs = text.match(ideograph)?.length ?? 0;
  const spaced = ideographs === 0 ? text : text.replace(ideograph, ' ');
  let words = Math.ceil(ideographs / 2);
  for (const word of spaced.match(/\S+/g) ?? []) words += 1 + Math.floor(word.length / lengthOfLongWord);
  return words;
}
