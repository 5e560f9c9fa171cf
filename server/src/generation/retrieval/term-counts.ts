import { tokensOf } from './terms.ts';

/** About 10 MB per cached function. */
const charactersMax = 500_000;

/** Caches the results of a pure function of a text, so that a passage is analysed once and not for every question. */
export function remembered<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  let characters = 0;
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const computed = compute(text);
    if (characters + text.length > charactersMax) {
      known.clear();
      characters = 0;
    }
    characters += text.length;
    known.set(text, computed);
    return computed;
  };
}

export const tokensIn = remembered(tokensOf);

export const termCounts = remembered((text): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const token of tokensIn(text)) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
});
