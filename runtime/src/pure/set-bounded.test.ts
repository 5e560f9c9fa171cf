import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setBounded } from './set-bounded.ts';

test('removes the entry that was added first, and only above the limit', () => {
  const map = new Map<string | undefined, number>([[undefined, 1]]);
  setBounded(map, 'second', 2, 2);
  setBounded(map, undefined, 3, 2);
  assert.deepEqual([...map.keys()], [undefined, 'second']);
  setBounded(map, 'third', 3, 2);
  assert.deepEqual([...map.keys()], ['second', 'third']);
});
