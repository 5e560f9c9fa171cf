import { useSyncExternalStore } from 'react';
import { formatExactTime, relativeTime } from './format-time.ts';

/** "5 min ago", updated every minute. Hover shows the exact time. */
export function RelativeTime({ at }: { at: string }) {
  const now = useSyncExternalStore(everyMinute, () => minute);
  const date = new Date(at);
  return (
    <time dateTime={at} title={formatExactTime(date)}>
      {relativeTime(date, Math.max(now, Date.now()))}
    </time>
  );
}

let minute = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function everyMinute(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    minute = Date.now();
    for (const each of listeners) each();
  }, 60_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
