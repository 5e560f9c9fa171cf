interface Heading {
  readonly text: string;
  /** 1 for the outermost. */
  readonly depth: number;
}

/** The headings that begin between two passages: `A › B` after `A › C` begins B. */
export function headingsBetween(before: string, after: string): Heading[] {
  if (after === '') return [];
  const [earlier, path] = [before.split(' › '), after.split(' › ')];
  const same = path.findIndex((text, at) => text !== earlier[at]);
  return same < 0 ? [] : path.slice(same).map((text, at) => ({ text, depth: same + at + 1 }));
}
