import type { ServerResponse } from 'node:http';

/** Requests that wait for an event. Each holds a timer and an abort controller, and nothing else. */
export class HeldRequests {
  readonly #held = new Set<AbortController>();
  #closing = false;

  /** Aborts `until` after `ms`, when the peer disconnects, or when the service stops. */
  async hold(
    response: ServerResponse,
    ms: number,
    wait: (until: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const enough = new AbortController();
    const end = () => enough.abort();
    const timer = setTimeout(end, ms);
    // A peer that closed only its sending side is answered at once. Most have disconnected: the two look the same.
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

  /** Answers every held request now. */
  releaseAll(): void {
    this.#closing = true;
    for (const enough of this.#held) enough.abort();
  }
}
