import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { FairQueue } from '../domain/fair-queue.ts';
import { takeTurn } from './turns.ts';

describe('Turns of the event loop', () => {
  it('run one task each, and alternate between organizations', async () => {
    const turns = new FairQueue<string>(1);
    const started: string[] = [];
    const asked = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'];
    for (const name of asked) takeTurn(name[0]!, () => started.push(name), turns);
    const expected = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'];
    for (let turn = 1; turn <= expected.length; turn += 1) {
      assert.deepEqual(started, expected.slice(0, turn));
      await setImmediate();
    }
  });
});
