import { simulate } from './simulate.ts';
import type { RunOptions, RunResult } from './world.ts';

/** A shorter run that breaks the same invariant. */
interface Shrunk {
  readonly options: RunOptions;
  readonly result: RunResult;
}

/**
 * Leaves out actions of the plan, first in large parts and then one by one, for as long as the run still breaks the same
 * invariant. Bounded by a number of steps: the result is short, not always the shortest.
 */
export async function shrink(failing: RunOptions, result: RunResult, stepsMax = 5_000_000): Promise<Shrunk> {
  const invariant = result.violation?.invariant;
  let best: Shrunk = { options: { ...failing, actionsMax: result.actions }, result };
  let kept = Array.from({ length: result.actions }, (_, number) => number);
  let steps = 0;
  for (let size = kept.length >> 1; size >= 1 && steps < stepsMax; size >>= 1) {
    for (let from = 0; from < kept.length && steps < stepsMax; ) {
      const rest = kept.toSpliced(from, size);
      const only = new Set(rest);
      const options = { ...best.options, only };
      const tried = await simulate(options);
      steps += tried.steps;
      if (tried.violation?.invariant === invariant) {
        best = { options, result: tried };
        kept = rest;
      } else {
        from += size;
      }
    }
  }
  return best;
}
