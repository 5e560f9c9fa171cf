import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { joinPieces } from './join-pieces.ts';

function requestOf(pieces: readonly Buffer[]): IncomingMessage {
  const body = Object.assign(new PassThrough(), { headers: { 'transfer-encoding': 'chunked' } });
  for (const piece of pieces) body.write(piece);
  body.end();
  return body as unknown as IncomingMessage;
}

describe('The pieces of a body', () => {
  it('are joined if they are small, and keep their order', async () => {
    const bytes = Buffer.from(Array.from({ length: 40_000 }, (_, index) => index % 251));
    const small = Array.from(bytes, (byte) => Buffer.of(byte));
    const large = Buffer.alloc(20_000, 'x');
    const joined: Buffer[] = [];
    for await (const piece of joinPieces(requestOf([...small, large, ...small]))) joined.push(piece);
    assert.ok(joined.length < 10, `${joined.length} pieces`);
    assert.ok(Buffer.concat(joined).equals(Buffer.concat([bytes, large, bytes])));
  });

  it('fail with the request', async () => {
    const request = requestOf([Buffer.of(1)]);
    const body = joinPieces(request);
    request.destroy(new Error('aborted'));
    await assert.rejects(body.toArray(), /aborted/);
  });
});
