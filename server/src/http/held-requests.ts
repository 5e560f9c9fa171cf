import type { ServerResponse } from 'node:http';

/** Requests that wait for an event. Each holds a timer and an abort controller, and nothing else. */
export class HeldRequests {
  readonly #held = new Set<AbortController>();
  #closing = false;

  /** Aborts `until` after `ms`, when the peer disconnects, or when the service stops. */
  hold(response: ServerResponse, ms: number, wait: (until: AbortSignal) => Promise<void>): Promise<void> {
    return whileConnected(response, async (enough) => {
      const timer = setTimeout(() => enough.abort(), ms);
      this.#held.add(enough);
      const { socket } = response;
      if (this.#closing || socket === null || socket.readableEnded) enough.abort();
      try {
        await wait(enough.signal);
      } finally {
        clearTimeout(timer);
        this.#held.delete(enough);
      }
    });
  }

  /** Answers every held request now. */
  releaseAll(): void {
    this.#closing = true;
    for (const enough of this.#held) enough.abort();
  }
}

/** Aborts `gone` when the peer disconnects. */
export async function whileConnected<T>(
  { socket }: ServerResponse,
  act: (gone: AbortController) => Promise<T>,
): Promise<T> {
  const gone = new AbortController();
  const end = () => gone.abort();
  // A peer that closed only its sending side no longer waits, either. Most have disconnected: the two look the same.
  for (const event of ['close', 'end']) socket?.once(event, end);
  try {
    return await act(gone);
  } finally {
    for (const event of ['close', 'end']) socket?.removeListener(event, end);
  }
}
