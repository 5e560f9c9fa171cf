import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropOldest } from './drop-oldest.ts';

test('removes the entry that was added first, and only above the limit', () => {
  const map = new Map<string | undefined, number>([
    [undefined, 1],
    ['second', 2],
  ]);
  dropOldest(map, 2);
  assert.equal(map.size, 2);
  map.set('third', 3);
  dropOldest(map, 2);
  assert.deepEqual([...map.keys()], ['second', 'third']);
});
