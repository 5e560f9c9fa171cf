import assert from 'node:assert/strict';
import { it } from 'node:test';
import { removalRestMs } from './background.ts';

it('Removal rests most of the time, even if it has removed only a few rows', () => {
  const [fewLongRows, fewShortRows, manyShortRows] = [
    removalRestMs(10, 20),
    removalRestMs(1, 20),
    removalRestMs(1, 500),
  ];
  assert.deepEqual([fewLongRows, fewShortRows, manyShortRows], [50, 9, 50]);
});
