import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { chunksInTurns, HeldRequests, whileAdmitted } from './long-responses.ts';

describe('The pieces of a body', () => {
  it('are sent in bounded chunks, each requested after the previous one was consumed', async () => {
    const large = Buffer.alloc(1_000_000, '字');
    let asked = 0;
    async function* pieces() {
      for (const piece of ['{', '"a":', large, ',', large, '}']) {
        asked += 1;
        yield piece;
      }
    }
    const chunks: Buffer[] = [];
    for await (const chunk of chunksInTurns('org', pieces())) {
      chunks.push(chunk);
      if (chunks.length === 2) assert.equal(asked, 3, 'nothing is loaded ahead');
    }
    assert.ok(chunks.every(({ length }) => length < 65_536));
    assert.equal(chunks[0]?.toString(), '{"a":');
    const expected = Buffer.concat([Buffer.from('{"a":'), large, Buffer.from(','), large, Buffer.from('}')]);
    assert.ok(Buffer.concat(chunks).equals(expected));
  });

  it('are sent after one check for each part that follows the first', async () => {
    const order: string[] = [];
    const [one, two, three] = ['one', 'two', 'three'].map((text) => Buffer.from(text)) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    const pieces = ['[', '', one, ',', two, ',', three, ']'];
    for await (const piece of whileAdmitted(pieces, async () => order.push('check')))
      order.push(String(piece));
    assert.deepEqual(order, ['[', '', 'one', ',', 'check', 'two', ',', 'check', 'three', ']']);
  });
});

describe('Held requests', () => {
  it('go on one by one when all of them end at once', async () => {
    const held = new HeldRequests();
    const response = { socket: null } as ServerResponse;
    const ends = new AbortController();
    let done = 0;
    const holds = Array.from({ length: 200 }, async () => {
      await held.hold('org', response, 60_000, async () => {
        await once(ends.signal, 'abort');
      });
      done += 1;
    });
    ends.abort();
    let largest = 0;
    while (done < holds.length) {
      const before = done;
      await new Promise(setImmediate);
      largest = Math.max(largest, done - before);
    }
    assert.ok(largest <= 3, `${largest} in one turn`);
  });
});
