import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrganizationId } from '../../domain/id.ts';
import type { UsageReport } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { flushUsage } from './flush-usage.ts';
import { UsageCounter } from './usage-counter.ts';

const request = {
  organizationId: 'org_1' as OrganizationId,
  credentialId: 'key_1',
  operation: 'getThread',
  outcome: 'OK',
  at: Date.UTC(2026, 10, 15),
};

function flushing(addUsage: (reports: readonly UsageReport[]) => Promise<void>) {
  const usage = new UsageCounter();
  return { usage, flush: () => flushUsage({ store: { addUsage } as Context['store'], usage }) };
}

test('keeps each request once', async () => {
  const kept: UsageReport[] = [];
  const { usage, flush } = flushing(async (reports) => void kept.push(...reports));
  usage.count(request);
  usage.count(request);
  await flush();
  await flush();
  assert.deepEqual(
    kept.map(({ requests }) => requests),
    [2],
  );
});

test('asks nothing of the store while nothing is requested', async () => {
  const { flush } = flushing(() => assert.fail('the store was asked'));
  await flush();
});

test('loses nothing when the store fails', async () => {
  let fails = true;
  const kept: UsageReport[] = [];
  const { usage, flush } = flushing(async (reports) => {
    if (fails) throw new Error('no disk');
    kept.push(...reports);
  });
  usage.count(request);
  await assert.rejects(flush(), /no disk/);
  fails = false;
  usage.count(request);
  await flush();
  assert.deepEqual(
    kept.map(({ requests }) => requests),
    [2],
  );
});
