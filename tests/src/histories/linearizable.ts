/** An operation on one value. An uncertain write may take effect at any time after its start, or never. */
export interface Operation {
  readonly kind: 'write' | 'read';
  readonly value: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly isUncertain?: boolean;
}

/** Nothing changes a deleted value any more. */
export const absent = 'absent';
export const deleted = 'deleted';

/**
 * Whether some order of the operations explains every read: each operation takes effect at one moment between its start
 * and its end. This is the search of Wing and Gong with Lowe's memory of visited states. A read that fits the current
 * value is taken at once, which never rules out a solution, so histories that are mostly reads take linear time.
 */
export function isLinearizable(operations: readonly Operation[]): boolean {
  const ordered = operations
    .map((operation) => ({
      ...operation,
      endedAt: operation.isUncertain ? Number.POSITIVE_INFINITY : operation.endedAt,
    }))
    .sort((one, other) => one.startedAt - other.startedAt);
  const visited = new Set<string>();
  const pending: { done: ReadonlySet<number>; from: number; value: string }[] = [
    { done: new Set(), from: 0, value: absent },
  ];
  for (;;) {
    const state = pending.pop();
    if (state === undefined) return false;
    const { done, from, value } = takeReads(ordered, state);
    const candidates = enabled(ordered, done, from);
    if (candidates.every((index) => ordered[index]!.isUncertain) && isComplete(ordered, done, from))
      return true;
    const key = `${from} ${[...done].sort((one, other) => one - other).join()} ${value}`;
    if (visited.has(key)) continue;
    visited.add(key);
    for (const index of candidates) {
      const operation = ordered[index]!;
      if (operation.kind === 'write' && isLegal(operation.value, value))
        pending.push({ done: new Set([...done, index]), from, value: operation.value });
    }
  }
}

type Ordered = readonly Operation[];
interface State {
  /** The operations at or after `from` that have taken effect. All before `from` have. */
  readonly done: ReadonlySet<number>;
  readonly from: number;
  readonly value: string;
}

function takeReads(ordered: Ordered, { done: before, from: start, value }: State): State {
  const done = new Set(before);
  let from = start;
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const index of enabled(ordered, done, from)) {
      const { kind, value: read } = ordered[index]!;
      if (kind !== 'read' || read !== value) continue;
      done.add(index);
      isChanged = true;
    }
    while (done.delete(from)) from += 1;
  }
  return { done, from, value };
}

/** The operations that may come next: those that started before any other remaining one ended. */
function enabled(ordered: Ordered, done: ReadonlySet<number>, from: number): number[] {
  const found: number[] = [];
  let earliestEnd = Number.POSITIVE_INFINITY;
  for (let index = from; index < ordered.length; index += 1) {
    const { startedAt, endedAt } = ordered[index]!;
    if (startedAt > earliestEnd) break;
    if (done.has(index)) continue;
    found.push(index);
    earliestEnd = Math.min(earliestEnd, endedAt);
  }
  return found;
}

function isComplete(ordered: Ordered, done: ReadonlySet<number>, from: number): boolean {
  return ordered.slice(from).every(({ isUncertain }, place) => isUncertain || done.has(from + place));
}

/** A thread is created once, and a deleted one cannot be renamed or deleted again. */
function isLegal(next: string, current: string): boolean {
  return current !== deleted && (current !== absent || next !== deleted);
}
