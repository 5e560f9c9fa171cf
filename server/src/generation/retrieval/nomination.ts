import type { PassageNumber } from '../../storage/store.ts';
import type { WeighedConcept, WeighedWording } from './ranking.ts';
import type { TermIndex } from './term-index.ts';

/** The passages that hold the most telling words, most telling first. */
export function nominate(
  concepts: readonly WeighedConcept[],
  index: TermIndex,
  limit: number,
): PassageNumber[] {
  const bounded = concepts
    .map(({ wordings }) => ({ wordings, bound: Math.max(0, ...wordings.map(({ weight }) => weight)) }))
    .sort((a, b) => b.bound - a.bound);
  let remaining = bounded.reduce((sum, { bound }) => sum + bound, 0);
  let sums = new Map<PassageNumber, number>();
  for (const { wordings, bound } of bounded) {
    // Whoever is not nominated yet cannot overtake enough of those who are.
    const isClosed = sums.size >= limit && countAbove(sums, remaining) >= limit;
    sums = added(sums, weightsBy(wordings, index), isClosed);
    remaining -= bound;
  }
  return best(sums, limit);
}

function countAbove(sums: ReadonlyMap<PassageNumber, number>, bound: number): number {
  let count = 0;
  for (const sum of sums.values()) if (sum >= bound) count++;
  return count;
}

/** Per passage the weight of the best wording it holds. */
function weightsBy(wordings: readonly WeighedWording[], index: TermIndex): Map<PassageNumber, number> {
  const weights = new Map<PassageNumber, number>();
  for (const { phrase, weight, held, certainty } of [...wordings].sort((a, b) => a.weight - b.weight)) {
    const holders = rarestHolders(phrase, index);
    // The first few holders of a frequent word that nobody asked for are no better than the others.
    if (certainty < 1 && holders.size < held) continue;
    for (const number of holders) weights.set(number, weight);
  }
  return weights;
}

function rarestHolders(phrase: readonly string[], index: TermIndex): ReadonlySet<PassageNumber> {
  const held = phrase.filter((term) => index.held(term) > 0);
  return held.length === 0
    ? new Set()
    : index.holders(held.reduce((a, b) => (index.held(b) < index.held(a) ? b : a)));
}

function added(
  sums: Map<PassageNumber, number>,
  weights: ReadonlyMap<PassageNumber, number>,
  isClosed: boolean,
): Map<PassageNumber, number> {
  for (const [number, weight] of weights) {
    const sum = sums.get(number);
    if (sum !== undefined) sums.set(number, sum + weight);
    else if (!isClosed) sums.set(number, weight);
  }
  return sums;
}

function best(sums: ReadonlyMap<PassageNumber, number>, limit: number): PassageNumber[] {
  // Sorting numbers is ten times as fast as sorting pairs.
  const bound = Float64Array.from(sums.values()).sort().at(-limit) ?? 0;
  const entries: [PassageNumber, number][] = [];
  for (const entry of sums) if (entry[1] >= bound) entries.push(entry);
  return entries
    .sort(([a, sumOfA], [b, sumOfB]) => sumOfB - sumOfA || a - b)
    .slice(0, limit)
    .map(([number]) => number);
}
