import type { Diagnosis } from './store.ts';

/** Smaller jumps are ignored: they shorten a lease or a deadline by less than this. */
const jumpMsMin = 2_000;
/** Two processes that see the same jump disagree by less than this about its time. */
const toleranceMs = 1_000;

/** One reading of the store's clock, and a steady clock before and after it. */
export interface ClockReading {
  readonly time: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/**
 * Detects that the store's clock was set forward: since the `last` reading up to which jumps were handled, it has advanced
 * by more than a steady clock. A slow reading makes a jump look smaller, never larger. Leases and deadlines are moved by
 * the jump. Every process that sweeps detects it; the first one to record it in the store moves them.
 */
export function clockJump(last: ClockReading, reading: ClockReading) {
  const elapsedMs = reading.afterMs - last.beforeMs;
  const jumpedMs = Math.floor(reading.time - last.time - elapsedMs);
  if (jumpedMs < jumpMsMin) return undefined;
  return {
    jumpedMs,
    /** Another process has handled this jump if it recorded a jump at this time or later. */
    seenByOthersFrom: last.time + jumpedMs - toleranceMs,
    /**
     * Rows created before this time may be dated before the jump. All of them are, unless more time has passed since the
     * last reading than the clock jumped; a reply that started after the jump may then get more time, never less.
     */
    datedBefore: last.time + Math.max(jumpedMs, Math.ceil(elapsedMs)),
  };
}

/** A clock this far behind the newest row is wrong. Smaller differences come from bursts of renames. */
const behindMsMax = 5000;

export function diagnoseClock(behindMs: number, remedy: string): Diagnosis {
  const ok = behindMs < behindMsMax;
  const behind = `${Math.round(behindMs / 1000)} s behind the newest row: ${remedy}`;
  return { check: 'clock', ok, detail: ok ? 'not behind the store' : behind };
}
