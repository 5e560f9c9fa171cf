import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../api/contract.ts';
import { durationText, longDurationText, stepDurationsMs, totalMs } from './elapsed.ts';

const reply: Json<'reply'> = {
  id: 'msg_2',
  role: 'assistant',
  content: '',
  createdAt: '2026-11-15T08:00:00.000Z',
  status: 'completed',
  completedAt: '2026-11-15T08:00:03.200Z',
  steps: [
    { description: 'Searching', elapsedMs: 100 },
    { description: 'Reading', elapsedMs: 1_100 },
  ],
  sources: null,
  model: null,
  traceId: null,
  failure: null,
  verdict: null,
};

test('a duration is short and names its unit', () => {
  assert.deepEqual([0, 420, 9_949, 9_950, 59_400, 59_600, 64_000, 3_725_000, -5].map(durationText), [
    '< 0.1 s',
    '0.4 s',
    '9.9 s',
    '10 s',
    '59 s',
    '1 min 0 s',
    '1 min 4 s',
    '1 h 2 min',
    '< 0.1 s',
  ]);
});

test('a step lasts until the next one starts, and the last until the reply ends', () => {
  assert.deepEqual(stepDurationsMs(reply), [1_000, 2_100]);
  assert.equal(totalMs(reply), 3_200);
});

test('the current step of a running reply has no duration yet', () => {
  assert.deepEqual(stepDurationsMs({ ...reply, status: 'in_progress', completedAt: null }), [1_000, null]);
});

test('a step without a stored time has no duration, and neither does the one before it', () => {
  const steps = [...reply.steps.slice(0, 1), { description: 'Reading', elapsedMs: null }];
  assert.deepEqual(stepDurationsMs({ ...reply, steps }), [null, null]);
});

test('the time of a quick step is not shown', () => {
  assert.deepEqual([0, 999, 1_000, 64_000].map(longDurationText), ['', '', '1.0 s', '1 min 4 s']);
});
