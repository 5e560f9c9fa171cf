import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBucket, percentile } from './traffic.ts';

const countsOf = (durations: readonly number[]): number[] => {
  const counts = Array.from({ length: 28 }, () => 0);
  for (const ms of durations) counts[findBucket(ms)]! += 1;
  return counts;
};

test('a percentile is null without requests', () => {
  assert.equal(percentile([], 0.5), null);
  assert.equal(percentile(countsOf([]), 0.5), null);
});

test('a percentile is close to the exact one', () => {
  const durations = Array.from({ length: 1_000 }, (_, index) => index + 1);
  const counts = countsOf(durations);
  for (const share of [0.5, 0.95, 0.99]) {
    const exact = durations[share * 1_000 - 1]!;
    assert.ok(
      Math.abs(percentile(counts, share)! - exact) / exact < 0.25,
      `${share}: ${percentile(counts, share)}`,
    );
  }
});

test('a duration above all bounds counts as the last bound', () => {
  assert.equal(findBucket(Number.POSITIVE_INFINITY), 27);
  assert.equal(percentile(countsOf([3_600_000]), 0.99), 600_000);
  assert.equal(findBucket(0), 0);
});
