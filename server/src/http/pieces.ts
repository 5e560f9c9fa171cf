import { Readable } from 'node:stream';
import { nextTurn } from '../usecases/turns.ts';

/** A part of a large response. Texts are short. */
export type Piece = string | Buffer;
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

/** The bytes of the pieces in chunks, each in a turn of its own. Consecutive texts become one chunk. */
export async function* chunksInTurns(organizationId: string, pieces: Pieces): AsyncGenerator<Buffer> {
  let text = '';
  for await (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else {
      yield* split(organizationId, Buffer.from(text));
      yield* split(organizationId, piece);
      text = '';
    }
  }
  yield* split(organizationId, Buffer.from(text));
}

async function* split(organizationId: string, bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    await nextTurn(organizationId);
    yield bytes.subarray(from, from + chunkBytes);
  }
}
