import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeInTurns, jsonSlices, partRenderer } from './render-in-turns.ts';

const texts = [
  '',
  'short',
  'x'.repeat(100_000),
  '長'.repeat(100_000),
  // A slice would end within a pair, whatever its length.
  `${'🧶'.repeat(50_000)}`,
  `x${'🧶'.repeat(50_000)}`,
  '\u0001"\\\n'.repeat(25_000),
];

describe('JSON that is rendered in turns', () => {
  it('is the same as in one piece, whatever the long text is and where it stands', async () => {
    for (const content of texts) {
      for (const value of [
        { content },
        { id: '"content":"x"', content, steps: [{ content: 'x' }], end: null },
      ]) {
        const slices = [...jsonSlices(value, 'content')];
        assert.equal(slices.join(''), JSON.stringify(value));
        assert.ok(slices.every(({ length }) => length <= 6 * 32_768));
        const bytes = Buffer.concat(await encodeInTurns('org', slices));
        assert.deepEqual(bytes, Buffer.from(JSON.stringify(value)));
      }
    }
  });

  it('takes a turn of the event loop for every 32,768 characters, and one for many short objects', async () => {
    let turn = 0;
    let counting = setImmediate(function count() {
      turn += 1;
      counting = setImmediate(count);
    });
    const lengths = new Map<number, number>();
    function* slices() {
      for (const text of [
        ...Array(64).fill('"s"'),
        ...jsonSlices({ content: 'x'.repeat(200_000) }, 'content'),
      ]) {
        lengths.set(turn, (lengths.get(turn) ?? 0) + text.length);
        yield text;
      }
    }
    await Promise.all(['one', 'one', 'two'].map((organization) => encodeInTurns(organization, slices())));
    clearImmediate(counting);
    const perTurn = [...lengths.values()];
    assert.ok(perTurn.length >= 15, `${perTurn}`);
    assert.ok(
      perTurn.every((length) => length < 2 * 32_768),
      `${perTurn}`,
    );
  });

  it('is made once for all responses that send the same part', async () => {
    let made = 0;
    const render = partRenderer(function* (item: { content: string }) {
      made += 1;
      yield* jsonSlices(item, 'content');
    });
    const part = [{ content: 'a' }, { content: 'b' }];
    const [one, other] = await Promise.all([render('org', part), render('org', part)]);
    assert.equal(one, other);
    assert.equal(made, 2);
    assert.equal(String(Buffer.concat(one)), '{"content":"a"},{"content":"b"}');
  });
});
