import { FairQueue } from '../domain/fair-queue.ts';

/** All costly work of a process shares its event loop: one piece of it runs in each turn. */
const turnsOfProcess = new FairQueue<string>(1);

/**
 * Runs a piece of costly work: at once if the turn of the event loop is free, otherwise callers take turns. A caller is an
 * organization, or the address of somebody unknown. However much work one caller causes, a request of another waits for
 * one piece, and a piece of another for as many as there are callers.
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
