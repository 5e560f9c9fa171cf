import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { iso, secondsUntilReset, utcDay } from './time.ts';

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

describe('The day of a quota', () => {
  const midnight = Date.UTC(2026, 10, 15);

  it('changes at UTC midnight and not a millisecond before', () => {
    assert.equal(utcDay(midnight) - utcDay(midnight - 1), 1);
    assert.equal(utcDay(midnight + 86_399_999), utcDay(midnight));
  });

  it('ends after the number of seconds it reports', () => {
    for (const ms of [midnight, midnight + 1, midnight + 86_399_999]) {
      const seconds = secondsUntilReset(ms);
      assert.ok(seconds >= 1);
      assert.equal(utcDay(ms + seconds * 1000), utcDay(ms) + 1);
    }
    assert.equal(secondsUntilReset(midnight), 86_400);
  });
});
