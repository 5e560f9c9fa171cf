import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highlight } from './highlight.ts';

test('A very long line of code keeps one color', async () => {
  const long = '1;'.repeat(1_000);
  const lines = await highlight(`let a;\n${long}`, 'js');
  assert.deepEqual(lines?.[1], [{ text: long, color: '' }]);
});
