import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClockReading, clockJump } from './clock-jumps.ts';

/** A reading that took no time, `elapsedMs` after the first one, with a clock that was set forward by `jumpedMs`. */
function readingAfter(elapsedMs: number, jumpedMs: number): ClockReading {
  return { time: 1_000_000 + elapsedMs + jumpedMs, beforeMs: elapsedMs, afterMs: elapsedMs };
}

describe('A jump of the clock', () => {
  it('is ignored if it is small', () => {
    assert.equal(clockJump(readingAfter(0, 0), readingAfter(5000, 1999)), undefined);
  });

  it('separates rows dated before it from those dated after it', () => {
    // The clock was set forward between these two times, 3 and 4 seconds after the first reading.
    const [before, after] = [readingAfter(3000, 0).time, readingAfter(4000, 60_000).time];
    const { jumpedMs, datedBefore } = clockJump(readingAfter(0, 0), readingAfter(5000, 60_000))!;
    assert.equal(jumpedMs, 60_000);
    assert.ok(before < datedBefore && datedBefore <= after);
  });

  it('includes every row from before it if the last clock reading was long ago', () => {
    const { datedBefore } = clockJump(readingAfter(0, 0), readingAfter(24_000, 15_000))!;
    assert.ok(readingAfter(23_999, 0).time < datedBefore);
  });
});
