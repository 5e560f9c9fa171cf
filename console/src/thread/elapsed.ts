import type { Json } from '../api/contract.ts';

/** `< 0.1 s`, `0.4 s`, `12 s`, `1 min 4 s`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 0.05) return '< 0.1 s';
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes} min ${whole % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Empty below a second: the times of quick steps are noise. */
export function longDurationText(ms: number): string {
  return ms < 1_000 ? '' : durationText(ms);
}

/** How long each step took, until the next step or the end of the reply. Null if that is unknown or still running. */
export function stepDurationsMs(reply: Json<'reply'>): (number | null)[] {
  const endMs = totalMs(reply);
  return reply.steps.map(({ elapsedMs }, at) => {
    const next = reply.steps[at + 1];
    const untilMs = next === undefined ? endMs : next.elapsedMs;
    return elapsedMs === null || untilMs === null ? null : Math.max(0, untilMs - elapsedMs);
  });
}

/** From the prompt to the reply's end; null while it is being written. */
export function totalMs({ createdAt, completedAt }: Json<'reply'>): number | null {
  return completedAt === null ? null : Math.max(0, Date.parse(completedAt) - Date.parse(createdAt));
}
