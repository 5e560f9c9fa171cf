import { counted } from './count-words.ts';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
/** Without the period of "min." */
function ago(amount: number, unit: Intl.RelativeTimeFormatUnit): string {
  return relative.format(amount, unit).replace('.', '');
}
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

export const exactTime = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'medium' }).format;

export const dayOf = new Intl.DateTimeFormat('en', { dateStyle: 'medium' }).format;

export const timeOf = new Intl.DateTimeFormat('en', { timeStyle: 'medium' }).format;

/** Day and time, for tables and sentences. */
export const momentOf = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' }).format;

/** Relative for up to a week, then a date. */
export function relativeTime(date: Date, nowMs: number): string {
  const seconds = (date.getTime() - nowMs) / 1_000;
  if (seconds > -45) return 'just now';
  if (seconds > -3_570) return ago(Math.min(-1, Math.round(seconds / 60)), 'minute');
  if (seconds > -84_600) return ago(Math.round(seconds / 3_600), 'hour');
  if (seconds > -6.5 * 86_400) return ago(Math.round(seconds / 86_400), 'day');
  const sameYear = date.getFullYear() === new Date(nowMs).getFullYear();
  return sameYear ? day.format(date) : dayOf(date);
}

/** `90 seconds`, `15 minutes` */
export function waitInWords(seconds: number): string {
  return seconds < 120 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute');
}
