import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { nextTurn } from '../../../../runtime/src/turns.ts';
import { Connection } from './connection.ts';

/** Requests that wait for an event. Each holds a timer and an abort controller, and nothing else. */
export class HeldRequests {
  readonly #held = new Set<AbortController>();
  #closing = false;

  /**
   * Aborts `until` after `ms`, when the peer disconnects, or when the service stops. Resolves in a turn of its own: one change
   * can end thousands of waits at once.
   */
  async hold(
    organizationId: string,
    response: ServerResponse,
    ms: number,
    wait: (until: AbortSignal) => Promise<void>,
  ): Promise<void> {
    await whileConnected(response, async (enough) => {
      const timer = setTimeout(() => enough.abort(), ms);
      this.#held.add(enough);
      const { socket } = response;
      if (this.#closing || socket === null || (socket instanceof Connection && socket.hasLeft))
        enough.abort();
      try {
        await wait(enough.signal);
      } finally {
        clearTimeout(timer);
        this.#held.delete(enough);
      }
    });
    await nextTurn(organizationId);
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
  for (const event of ['close', 'left']) socket?.once(event, end);
  try {
    return await act(gone);
  } finally {
    for (const event of ['close', 'left']) socket?.removeListener(event, end);
  }
}

/** A part of a large response. Texts are short. */
export type Piece = string | Buffer | readonly Buffer[];
export type Pieces = Iterable<Piece> | AsyncIterable<Piece>;

/** Given to a connection in one turn. A peer that does not read makes the process keep a few of them. */
const chunkBytes = 49_152;

/** The body of a response. What the peer has not read is neither loaded nor kept. */
export function streamOf(organizationId: string, pieces: Pieces): Readable {
  return Readable.from(chunksInTurns(organizationId, pieces), {
    objectMode: false,
    highWaterMark: chunkBytes,
  });
}

/** A large response is loaded as its peer reads it. Nothing is loaded for a peer whose access has ended in the meantime. */
export async function* whileAdmitted(pieces: Pieces, recheck: () => Promise<unknown>): AsyncGenerator<Piece> {
  let parts = 0;
  for await (const piece of pieces) {
    // A string only separates parts.
    if (typeof piece !== 'string' && ++parts > 1) await recheck();
    yield piece;
  }
}

/** The bytes of the pieces in chunks, each in a turn of its own. */
export async function* chunksInTurns(organizationId: string, pieces: Pieces): AsyncGenerator<Buffer> {
  for await (const bytes of joinTexts(pieces)) {
    for (let from = 0; from < bytes.length; from += chunkBytes) {
      await nextTurn(organizationId);
      yield bytes.subarray(from, from + chunkBytes);
    }
  }
}

/** Consecutive texts become one buffer. */
async function* joinTexts(pieces: Pieces): AsyncGenerator<Buffer> {
  let text = '';
  for await (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else {
      yield Buffer.from(text);
      if (Buffer.isBuffer(piece)) yield piece;
      else yield* piece;
      text = '';
    }
  }
  yield Buffer.from(text);
}
