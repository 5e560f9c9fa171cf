import { FairQueue } from './pure/fair-queue.ts';

/**
 * The number of pieces in a turn doubles for each 1,000 that wait: it is 4 if 2,000 wait, and 32 if 5,000 do. This limits the
 * memory for requests whose clients have already disconnected. If work ran at once above some limit instead, one turn could
 * handle thousands of requests, and everybody else would wait for all of them.
 */
const waitingToDouble = 1000;

/** Costly work is split into pieces, so that others can run in between: usually one piece runs in each turn of the event loop. */
export function createTurns() {
  const queue = new FairQueue<string>(1);
  let waiting = 0;
  let startedInTurn = 0;

  function run(caller: string, work: () => void): void {
    startedInTurn += 1;
    if (startedInTurn < 2 ** Math.floor(waiting / waitingToDouble)) queue.release(caller);
    else
      setImmediate(() => {
        startedInTurn = 0;
        queue.release(caller);
      });
    work();
  }

  return (caller: string, work: () => void) => {
    if (queue.take(caller)) return run(caller, work);
    waiting += 1;
    void queue.acquire(caller).then(() => {
      waiting -= 1;
      run(caller, work);
    });
  };
}

/**
 * Runs a piece of costly work: at once if no other piece has run in this turn of the event loop, otherwise when it is the
 * caller's turn. A caller is an organization, or the address of somebody unknown. However much work one caller causes, a
 * request of another waits for the pieces of one turn at most, and a piece of another for one piece of each caller.
 */
export const takeTurn = createTurns();

/** Resolves in a turn of its own. */
export function nextTurn(organizationId: string): Promise<void> {
  return new Promise((resolve) => takeTurn(organizationId, resolve));
}
