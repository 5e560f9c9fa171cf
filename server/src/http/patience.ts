import type { ServerResponse } from 'node:http';

/** Requests that wait for something to happen. They hold a timer and a note in memory, and nothing else. */
export class Patience {
  readonly #held = new Set<AbortController>();
  #closing = false;

  /** Aborts `until` when `ms` have passed, the peer has gone, or the service stops. */
  async hold(
    response: ServerResponse,
    ms: number,
    wait: (until: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const enough = new AbortController();
    const end = () => enough.abort();
    const timer = setTimeout(end, ms);
    response.once('close', end);
    this.#held.add(enough);
    if (this.#closing || response.destroyed) end();
    try {
      await wait(enough.signal);
    } finally {
      clearTimeout(timer);
      response.removeListener('close', end);
      this.#held.delete(enough);
    }
  }

  /** Whoever waits is answered now. */
  letGo(): void {
    this.#closing = true;
    for (const enough of this.#held) enough.abort();
  }
}
