import { counted } from './count-words.ts';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
/** Without the period of "min." */
function ago(amount: number, unit: Intl.RelativeTimeFormatUnit): string {
  return relative.format(amount, unit).replace('.', '');
}
/** Words are in English. The browser's language decides between a 12-hour and a 24-hour clock: `5:00 PM` or `17:00`. */
const { hourCycle = 'h12' } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
function formatOf(options: Intl.DateTimeFormatOptions): (date: Date) => string {
  return new Intl.DateTimeFormat('en', { ...options, hourCycle }).format;
}

const shortDay = { day: 'numeric', month: 'short' } as const;
const dayOfYear = formatOf(shortDay);

export const utcDay = formatOf({ ...shortDay, timeZone: 'UTC' });

export const exactTime = formatOf({ dateStyle: 'full', timeStyle: 'medium' });

export const dayOf = formatOf({ dateStyle: 'medium' });

export const timeOf = formatOf({ timeStyle: 'medium' });

export const hourOf = formatOf({ timeStyle: 'short' });

/** Day and time, for tables and sentences. */
export const momentOf = formatOf({ dateStyle: 'medium', timeStyle: 'medium' });

/** Relative for up to a week, then a date. */
export function relativeTime(date: Date, nowMs: number): string {
  const seconds = (date.getTime() - nowMs) / 1_000;
  if (seconds > -45) return 'just now';
  if (seconds > -3_570) return ago(Math.min(-1, Math.round(seconds / 60)), 'minute');
  if (seconds > -84_600) return ago(Math.round(seconds / 3_600), 'hour');
  if (seconds > -6.5 * 86_400) return ago(Math.round(seconds / 86_400), 'day');
  const sameYear = date.getFullYear() === new Date(nowMs).getFullYear();
  return sameYear ? dayOfYear(date) : dayOf(date);
}

/** `90 seconds`, `15 minutes` */
export function waitInWords(seconds: number): string {
  return seconds < 120 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute');
}
