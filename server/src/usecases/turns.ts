import { FairQueue } from '../domain/fair-queue.ts';

/** Costly work is split into pieces, so that others can run in between: one piece runs in each turn of the event loop. */
const turnsOfProcess = new FairQueue<string>(1);

/**
 * Runs a piece of costly work: at once if no other piece has run in this turn of the event loop, otherwise when it is the
 * caller's turn. A caller is an organization, or the address of somebody unknown. However much work one caller causes, a
 * request of another waits for one piece at most, and a piece of another for one piece of each caller.
 */
export function takeTurn(caller: string, work: () => void, turns = turnsOfProcess): void {
  const run = () => {
    setImmediate(() => turns.release(caller));
    work();
  };
  if (turns.take(caller)) run();
  else void turns.acquire(caller).then(run);
}

/** Resolves in a turn of its own. */
export function nextTurn(organizationId: string): Promise<void> {
  return new Promise((resolve) => takeTurn(organizationId, resolve));
}
