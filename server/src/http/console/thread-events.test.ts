import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { streamSlots } from './thread-events.ts';

describe('The limit of streams', () => {
  it('applies per member, and one too many closes the oldest stream', () => {
    const takeSlot = streamSlots(2);
    const ended: string[] = [];
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2', 'a4']) {
      takeSlot(name.slice(0, 1), () => ended.push(name));
    }
    assert.deepEqual(ended, ['a1', 'a2']);
  });

  it('allows a new stream when one has ended', () => {
    const takeSlot = streamSlots(1);
    const ended: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const leave = takeSlot('member', () => ended.push(name));
      leave();
      leave();
    }
    assert.deepEqual(ended, []);
  });
});
