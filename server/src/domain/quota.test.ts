import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secondsUntilReset, utcDay } from './quota.ts';

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
