import { useEffect, useState } from 'react';
import { longDurationText } from './elapsed.ts';

interface RunningClockProps {
  /** A time by the service's clock. */
  readonly sinceMs: number;
  /** The service's clock minus the page's. */
  readonly clockAheadMs: number | null;
}

/** The time elapsed so far. Empty for the first second, and until the service has sent its clock. */
export function RunningClock({ sinceMs, clockAheadMs }: RunningClockProps) {
  const [pageMs, setPageMs] = useState(() => performance.now());
  const elapsedMs = clockAheadMs === null ? null : pageMs + clockAheadMs - sinceMs;
  const isShort = elapsedMs !== null && elapsedMs < 10_000;
  useEffect(() => {
    const timer = setInterval(() => setPageMs(performance.now()), isShort ? 100 : 1_000);
    return () => clearInterval(timer);
  }, [isShort]);
  return elapsedMs === null ? null : longDurationText(elapsedMs);
}
