import { counted } from './format-count.ts';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
/** Without the period of "min." */
function ago(amount: number, unit: Intl.RelativeTimeFormatUnit): string {
  return relative.format(amount, unit).replace('.', '');
}
/** Words are in English. The browser's language decides between a 12-hour and a 24-hour clock: `5:00 PM` or `17:00`. */
const { hourCycle = 'h12' } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
function formatter(options: Intl.DateTimeFormatOptions): (date: Date) => string {
  return new Intl.DateTimeFormat('en', { ...options, hourCycle }).format;
}

const shortDay = { day: 'numeric', month: 'short' } as const;
const formatDayOfYear = formatter(shortDay);

export const formatUtcDay = formatter({ ...shortDay, timeZone: 'UTC' });

export const formatExactTime = formatter({ dateStyle: 'full', timeStyle: 'medium' });

export const formatDate = formatter({ dateStyle: 'medium' });

export const formatTime = formatter({ timeStyle: 'medium' });

export const formatHour = formatter({ timeStyle: 'short' });

/** Day and time, for tables and sentences. */
export const formatDateTime = formatter({ dateStyle: 'medium', timeStyle: 'medium' });

/** Relative for up to a week, then a date. */
export function relativeTime(date: Date, nowMs: number): string {
  const seconds = (date.getTime() - nowMs) / 1_000;
  if (seconds > -45) return 'just now';
  if (seconds > -3_570) return ago(Math.min(-1, Math.round(seconds / 60)), 'minute');
  if (seconds > -84_600) return ago(Math.round(seconds / 3_600), 'hour');
  if (seconds > -6.5 * 86_400) return ago(Math.round(seconds / 86_400), 'day');
  const sameYear = date.getFullYear() === new Date(nowMs).getFullYear();
  return sameYear ? formatDayOfYear(date) : formatDate(date);
}

/** `90 seconds`, `15 minutes` */
export function formatWait(seconds: number): string {
  return seconds < 120 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute');
}
