import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WholeThread } from '../port/store.ts';
import { estimateMemory } from './object-cache.ts';

test('counts two bytes for a character of a thread, and as many as its JSON takes', () => {
  const memoryWith = (content: string) =>
    estimateMemory({ thread: {}, messages: [{ content }] } as unknown as WholeThread);
  const memory = memoryWith('a'.repeat(1000));
  assert.equal(memory - memoryWith(''), 3000);
  assert.equal(memoryWith('漢'.repeat(1000)) - memory, 2000);
});
