import { sentencesOf } from '../../reading/sentences.ts';

/** What an answer is put together from: a sentence, or a line of a list. */
export interface Unit {
  readonly text: string;
  /** The list that it is a line of, counted within the passage. */
  readonly list: number | undefined;
}

/** The units of a passage in order. */
export function unitsOf(text: string): Unit[] {
  const units: Unit[] = [];
  let lists = 0;
  let prose: string[] = [];
  const closeProse = () => {
    for (const sentence of sentencesOf(prose.join('\n'))) units.push({ text: sentence, list: undefined });
    prose = [];
  };
  for (const line of text.split('\n')) {
    const item = /^\s*- (.+)$/.exec(line)?.[1];
    if (item === undefined) {
      if (line.trim() === '') closeProse();
      else prose.push(line);
      continue;
    }
    closeProse();
    if (units.at(-1)?.list === undefined) lists++;
    units.push({ text: item.trim(), list: lists });
  }
  closeProse();
  return units;
}
