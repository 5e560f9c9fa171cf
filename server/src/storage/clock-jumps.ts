/** Smaller steps are not made up for: they shorten a lease or a deadline by less than this. */
const jumpMsMin = 2_000;
/** Two processes that saw the same jump disagree by less than this about when it was. */
const toleranceMs = 1_000;

/** One reading of the store's clock, and a steady clock before and after it. */
export interface ClockReading {
  readonly time: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** A forward jump of the store's clock. */
export interface ClockJump {
  readonly jumpedMs: number;
  /** Another process has made up for this jump if it did so at this time or later. */
  readonly seenByOthersFrom: number;
  /** Rows created before this time were dated before the jump. */
  readonly datedBefore: number;
}

/**
 * Notices that the store's clock was set forward: it has then advanced by more than a steady clock did. Leases and
 * deadlines of running replies are moved by as much, so that a reply is given the time that it was promised. Every process
 * that sweeps notices the same jump; the first to record it in the store moves them, in the same transaction.
 */
export class ClockJumps {
  #last: ClockReading;

  constructor(first: ClockReading) {
    this.#last = first;
  }

  /** Since the last accepted reading. A slow answer makes a jump look smaller, never larger. */
  jumpAt(reading: ClockReading): ClockJump | undefined {
    const last = this.#last;
    const jumpedMs = Math.floor(reading.time - last.time - (reading.afterMs - last.beforeMs));
    if (jumpedMs < jumpMsMin) return undefined;
    return {
      jumpedMs,
      seenByOthersFrom: last.time + jumpedMs - toleranceMs,
      datedBefore: last.time + Math.ceil(jumpedMs / 2),
    };
  }

  /** To be called once a jump up to this reading was made up for. */
  accept(reading: ClockReading): void {
    this.#last = reading;
  }
}
