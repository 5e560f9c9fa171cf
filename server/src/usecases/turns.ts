/** Work that waits for a turn, by organization. */
const waiting = new Map<string, (() => void)[]>();
let isTaken = false;

/**
 * Runs one piece of costly work in each turn of the event loop: at once if the turn is free, otherwise organizations take
 * turns. However much of it one organization causes, a request of another waits for one piece, and a piece of another for
 * as many as there are organizations.
 */
export function takeTurn(organizationId: string, work: () => void): void {
  if (isTaken) {
    const queue = waiting.get(organizationId) ?? [];
    waiting.set(organizationId, queue);
    queue.push(work);
  } else {
    isTaken = true;
    setImmediate(runNext);
    work();
  }
}

/** Resolves in a turn of its own. */
export function nextTurn(organizationId: string): Promise<void> {
  return new Promise((resolve) => takeTurn(organizationId, resolve));
}

function runNext(): void {
  const [first] = waiting;
  isTaken = first !== undefined;
  if (first === undefined) return;
  const [organizationId, queue] = first;
  waiting.delete(organizationId);
  const work = queue.shift();
  // Behind the others.
  if (queue.length > 0) waiting.set(organizationId, queue);
  setImmediate(runNext);
  work?.();
}
