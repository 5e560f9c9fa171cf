import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrganizationId } from '../../domain/id.ts';
import { UsageCounter } from './usage-counter.ts';

const noon = Date.UTC(2026, 10, 15, 12);
const day = noon / 86_400_000 - 0.5;
const request = {
  organizationId: 'org_1' as OrganizationId,
  credentialId: 'key_1',
  operation: 'getThread',
  outcome: 'OK',
  at: noon,
};
const { at: _, ...named } = request;

test('adds up requests that have all but their time in common, and remembers the last', () => {
  const counter = new UsageCounter();
  for (const at of [noon, noon + 2000, noon + 1000]) counter.count({ ...request, at });
  assert.deepEqual(counter.take(), [{ ...named, day, requests: 3, lastUsedAt: noon + 2000 }]);
});

test('tells credentials, operations, outcomes and days apart', () => {
  const counter = new UsageCounter();
  counter.count(request);
  counter.count({ ...request, credentialId: 'key_2' });
  counter.count({ ...request, operation: 'listThreads' });
  counter.count({ ...request, outcome: 'NOT_FOUND' });
  counter.count({ ...request, at: noon + 86_400_000 });
  const reports = counter.take();
  assert.equal(reports.length, 5);
  assert.deepEqual(
    reports.map(({ requests }) => requests),
    [1, 1, 1, 1, 1],
  );
});

test('hands out each request once', () => {
  const counter = new UsageCounter();
  counter.count(request);
  assert.equal(counter.take().length, 1);
  assert.deepEqual(counter.take(), []);
});

test('adds what is given back to what was counted meanwhile', () => {
  const counter = new UsageCounter();
  counter.count({ ...request, at: noon + 5000 });
  const taken = counter.take();
  counter.count(request);
  counter.giveBack(taken);
  assert.deepEqual(counter.take(), [{ ...named, day, requests: 2, lastUsedAt: noon + 5000 }]);
});
