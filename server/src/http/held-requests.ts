import type { ServerResponse } from 'node:http';

/** Requests that wait for something to happen. They hold a timer and a note in memory, and nothing else. */
export class HeldRequests {
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
    // A peer that has closed its side wants what there is; most have gone altogether, and it cannot be told.
    const { socket } = response;
    for (const event of ['close', 'end']) socket?.once(event, end);
    this.#held.add(enough);
    if (this.#closing || socket === null || socket.readableEnded) end();
    try {
      await wait(enough.signal);
    } finally {
      clearTimeout(timer);
      for (const event of ['close', 'end']) socket?.removeListener(event, end);
      this.#held.delete(enough);
    }
  }

  /** Whoever waits is answered now. */
  letGo(): void {
    this.#closing = true;
    for (const enough of this.#held) enough.abort();
  }
}
