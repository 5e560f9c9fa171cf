import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';

/** Smaller pieces of a body are joined up to this length. */
const joinedBytes = 16_384;
/** A shorter body has few pieces, even if each byte arrives alone. */
const shortBodyBytes = 4096;

/** The body of a request in large pieces. Each byte may arrive as a chunk of its own, and a piece takes 150 bytes of memory. */
export function joinPieces(request: IncomingMessage): Readable {
  const { 'transfer-encoding': coding, 'content-length': length = 0 } = request.headers;
  if (coding === undefined && Number(length) <= shortBodyBytes) return request;
  // An error of the request is an error of the result, which its reader handles.
  return pipeline(request, new JoinedPieces(), () => {});
}

class JoinedPieces extends Transform {
  #joined = Buffer.alloc(0);
  #used = 0;

  override _transform(piece: Buffer, _encoding: string, done: () => void): void {
    const isSmall = piece.length <= joinedBytes / 2;
    if (!isSmall || this.#used + piece.length > joinedBytes) this.#pass();
    if (!isSmall) this.push(piece);
    else {
      if (this.#used === 0) this.#joined = Buffer.allocUnsafe(joinedBytes);
      this.#used += piece.copy(this.#joined, this.#used);
    }
    done();
  }

  override _flush(done: () => void): void {
    this.#pass();
    done();
  }

  #pass(): void {
    if (this.#used === 0) return;
    const bytes = this.#joined.subarray(0, this.#used);
    this.#used = 0;
    // A short piece would keep the whole buffer in memory.
    this.push(bytes.length < joinedBytes / 2 ? Buffer.from(bytes) : bytes);
  }
}
