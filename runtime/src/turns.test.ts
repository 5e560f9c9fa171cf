import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createTurns } from './turns.ts';

describe('Turns of the event loop', () => {
  it('run one task each, and alternate between organizations', async () => {
    const takeTurn = createTurns();
    const started: string[] = [];
    const asked = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'];
    for (const name of asked) takeTurn(name[0]!, () => started.push(name));
    const expected = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'];
    for (let turn = 1; turn <= expected.length; turn += 1) {
      assert.deepEqual(started, expected.slice(0, turn));
      await setImmediate();
    }
  });

  it('run more tasks per turn the more tasks wait, in the order of their arrival', async () => {
    const takeTurn = createTurns();
    const started: number[] = [];
    for (let task = 0; task <= 3000; task += 1) takeTurn('a', () => started.push(task));
    assert.deepEqual(started, [0]);
    const perTurn: number[] = [];
    while (started.length <= 3000) {
      const before = started.length;
      await setImmediate();
      perTurn.push(started.length - before);
    }
    assert.deepEqual([perTurn[0], perTurn.at(-1)], [4, 1]);
    assert.deepEqual(
      perTurn.toSorted((one, other) => other - one),
      perTurn,
    );
    assert.deepEqual(
      started.toSorted((one, other) => one - other),
      started,
    );
  });
});
