import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memoized } from './memoized.ts';

describe('A memoized function', () => {
  it('computes the value of each object once, even if it is undefined', () => {
    const asked: object[] = [];
    const measureSize = memoized((list: readonly number[]) => {
      asked.push(list);
      return list.length === 0 ? undefined : list.length;
    });
    const [empty, full] = [[], [1, 2]];
    assert.deepEqual([empty, full, empty, full].map(measureSize), [undefined, 2, undefined, 2]);
    assert.deepEqual(asked, [empty, full]);
    assert.equal(measureSize([1, 2, 3]), 3);
  });
});
