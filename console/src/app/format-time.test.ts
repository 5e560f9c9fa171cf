import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatWait, relativeTime } from './format-time.ts';

const now = Date.UTC(2026, 10, 15, 12);
const ago = (seconds: number) => relativeTime(new Date(now - seconds * 1_000), now);

test('says how long ago something was, up to a week', () => {
  assert.equal(ago(0), 'just now');
  assert.equal(ago(50), '1 min ago');
  assert.equal(ago(59 * 60 + 29), '59 min ago');
  assert.equal(ago(59 * 60 + 40), '1 hr ago');
  assert.equal(ago(23 * 3_600 + 29 * 60), '23 hr ago');
  assert.equal(ago(86_400), 'yesterday');
  assert.equal(ago(6 * 86_400), '6 days ago');
});

test('shows the date after a week, with the year if it is not the current one', () => {
  assert.equal(ago(10 * 86_400), 'Nov 5');
  assert.equal(ago(400 * 86_400), 'Oct 11, 2025');
});

test('shows a time in the future as now', () => {
  assert.equal(ago(-30), 'just now');
});

test('says how long to wait in seconds, and in minutes from two on', () => {
  assert.deepEqual([1, 119, 120, 841, 900].map(formatWait), [
    '1 second',
    '119 seconds',
    '2 minutes',
    '15 minutes',
    '15 minutes',
  ]);
});
