import assert from 'node:assert/strict';
import { it } from 'node:test';
import { restMs } from './background.ts';

it('Background work rests for most of the time, however few rows it has removed', () => {
  const [fewLongRows, manyShortRows] = [restMs(10, 20), restMs(1, 500)];
  assert.equal(fewLongRows, 90);
  assert.equal(manyShortRows, 50);
});
