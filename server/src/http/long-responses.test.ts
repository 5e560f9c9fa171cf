import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunksInTurns, whileAdmitted } from './long-responses.ts';

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
