import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrganizationId } from '../../domain/id.ts';
import type { UsageReport } from '../../storage/store.ts';
import { UsageCounter } from './request-recorder.ts';

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

async function flushed(counter: UsageCounter): Promise<UsageReport[]> {
  const stored: UsageReport[] = [];
  await counter.flush({ addUsage: async (reports) => void stored.push(...reports) });
  return stored;
}

test('adds up requests that differ only in their time, and keeps the latest time', async () => {
  const counter = new UsageCounter();
  for (const at of [noon, noon + 2000, noon + 1000]) counter.count({ ...request, at });
  assert.deepEqual(await flushed(counter), [{ ...named, day, requests: 3, lastUsedAt: noon + 2000 }]);
});

test('counts credentials, operations, outcomes and days separately', async () => {
  const counter = new UsageCounter();
  counter.count(request);
  counter.count({ ...request, credentialId: 'key_2' });
  counter.count({ ...request, operation: 'listThreads' });
  counter.count({ ...request, outcome: 'NOT_FOUND' });
  counter.count({ ...request, at: noon + 86_400_000 });
  const reports = await flushed(counter);
  assert.equal(reports.length, 5);
  assert.deepEqual(
    reports.map(({ requests }) => requests),
    [1, 1, 1, 1, 1],
  );
});

test('stores each request once', async () => {
  const counter = new UsageCounter();
  counter.count(request);
  assert.equal((await flushed(counter)).length, 1);
  assert.deepEqual(await flushed(counter), []);
});

test('does not call the store when nothing was requested', async () => {
  await new UsageCounter().flush({ addUsage: () => assert.fail('the store was called') });
});

test('loses nothing when the store fails', async () => {
  const counter = new UsageCounter();
  counter.count({ ...request, at: noon + 5000 });
  const failing = counter.flush({ addUsage: () => Promise.reject(new Error('no disk')) });
  counter.count(request);
  await assert.rejects(failing, /no disk/);
  assert.deepEqual(await flushed(counter), [{ ...named, day, requests: 2, lastUsedAt: noon + 5000 }]);
});
