import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { iso } from './iso-time.ts';

describe('A time', () => {
  it('is formatted like toISOString, at the start and end of days and in between', () => {
    const day = Date.UTC(2026, 1, 28);
    const edges = [
      0,
      1,
      999,
      1000,
      day - 1,
      day,
      day + 86_399_999,
      day + 86_400_000,
      Date.UTC(9999, 11, 31, 23, 59, 59, 999),
    ];
    const between = Array.from({ length: 10_000 }, (_, index) => (index * 7_919_993_377) % 4e12);
    for (const ms of [...edges, ...between]) assert.equal(iso(ms), new Date(ms).toISOString());
  });
});
