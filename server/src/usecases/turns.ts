/**
 * Runs one piece of costly work in each turn of the event loop: at once if the turn is free, otherwise organizations take
 * turns. However much of it one organization causes, a request of another waits for one piece, and a piece of another for
 * as many as there are organizations.
 */
export class Turns {
  /** Work that waits for a turn, by organization. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isTaken = false;

  take(organizationId: string, work: () => void): void {
    if (this.#isTaken) {
      const queue = this.#waiting.get(organizationId) ?? [];
      this.#waiting.set(organizationId, queue);
      queue.push(work);
    } else {
      this.#isTaken = true;
      setImmediate(() => this.#runNext());
      work();
    }
  }

  #runNext(): void {
    const [first] = this.#waiting;
    this.#isTaken = first !== undefined;
    if (first === undefined) return;
    const [organizationId, queue] = first;
    this.#waiting.delete(organizationId);
    const work = queue.shift();
    // Behind the others.
    if (queue.length > 0) this.#waiting.set(organizationId, queue);
    setImmediate(() => this.#runNext());
    work?.();
  }
}

/** All costly work of a process shares its event loop. */
const turns = new Turns();

export function takeTurn(organizationId: string, work: () => void): void {
  turns.take(organizationId, work);
}

/** Resolves in a turn of its own. */
export function nextTurn(organizationId: string): Promise<void> {
  return new Promise((resolve) => takeTurn(organizationId, resolve));
}
