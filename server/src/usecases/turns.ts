import { FairQueue } from '../domain/fair-queue.ts';

/**
 * The number of pieces in a turn doubles for each 1,000 that wait: 4 of 2,000, 32 of 5,000. This limits the memory for
 * requests whose clients have already disconnected. If work ran at once above some limit instead, one turn could handle
 * thousands of requests, and everybody else would wait for all of them.
 */
const waitingToDouble = 1000;

/** Costly work is split into pieces, so that others can run in between: usually one piece runs in each turn of the event loop. */
export class Turns {
  readonly #queue = new FairQueue<string>(1);
  #waiting = 0;
  /** In this turn. */
  #started = 0;

  /**
   * Runs a piece of costly work: at once if no other piece has run in this turn of the event loop, otherwise when it is the
   * caller's turn. A caller is an organization, or the address of somebody unknown. However much work one caller causes, a
   * request of another waits for one piece at most, and a piece of another for one piece of each caller.
   */
  take(caller: string, work: () => void): void {
    if (this.#queue.take(caller)) {
      this.#run(caller, work);
      return;
    }
    this.#waiting += 1;
    void this.#queue.acquire(caller).then(() => {
      this.#waiting -= 1;
      this.#run(caller, work);
    });
  }

  #run(caller: string, work: () => void): void {
    this.#started += 1;
    if (this.#started < 2 ** Math.floor(this.#waiting / waitingToDouble)) this.#queue.release(caller);
    else setImmediate(() => this.#end(caller));
    work();
  }

  #end(caller: string): void {
    this.#started = 0;
    this.#queue.release(caller);
  }
}

const turnsOfProcess = new Turns();

/** See `Turns.take`. */
export function takeTurn(caller: string, work: () => void): void {
  turnsOfProcess.take(caller, work);
}

/** Resolves in a turn of its own. */
export function nextTurn(organizationId: string): Promise<void> {
  return new Promise((resolve) => takeTurn(organizationId, resolve));
}
