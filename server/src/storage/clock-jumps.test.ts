import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClockJumps, type ClockReading } from './clock-jumps.ts';

/** A reading that took no time, `elapsedMs` after the first one, with a clock that was set forward by `jumpedMs`. */
function readingAfter(elapsedMs: number, jumpedMs: number): ClockReading {
  return { time: 1_000_000 + elapsedMs + jumpedMs, beforeMs: elapsedMs, afterMs: elapsedMs };
}

describe('ClockJumps', () => {
  it('ignores small jumps', () => {
    const jumps = new ClockJumps(readingAfter(0, 0));
    assert.equal(jumps.jumpAt(readingAfter(5000, 1999)), undefined);
  });

  it('separates rows dated before the jump from those dated after it', () => {
    const jumps = new ClockJumps(readingAfter(0, 0));
    // The clock was set forward between these two times, 3 and 4 seconds after the first reading.
    const [before, after] = [readingAfter(3000, 0).time, readingAfter(4000, 60_000).time];
    const { jumpedMs, datedBefore } = jumps.jumpAt(readingAfter(5000, 60_000))!;
    assert.equal(jumpedMs, 60_000);
    assert.ok(before < datedBefore && datedBefore <= after);
  });

  it('includes every row from before the jump if the last clock reading was long ago', () => {
    const jumps = new ClockJumps(readingAfter(0, 0));
    const { datedBefore } = jumps.jumpAt(readingAfter(24_000, 15_000))!;
    assert.ok(readingAfter(23_999, 0).time < datedBefore);
  });
});
