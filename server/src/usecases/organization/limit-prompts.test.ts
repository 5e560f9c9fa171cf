import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { authorizeWrites } from '../../../testing/authorize-writes.ts';
import { createPrincipal, operator, World } from '../../../testing/contract/fixture.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import type { PromptLimit, PromptOutcome } from '../../storage/port/store.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createAuthorize } from '../authorize.ts';
import { createCountUse } from '../count-use.ts';
import { createPromptLimit } from './limit-prompts.ts';

const acme = 'org_acme' as OrganizationId;
const other = 'org_other' as OrganizationId;
const limit = { period: 'minute', personMax: 3, organizationMax: 5 } as const;

/** Counts like the real store, and records how many calls of one organization run at once. */
class CountingStore {
  readonly counts = new Map<string, number>();
  atOnce = 0;
  atOnceMax = 0;

  async countPrompt(
    organizationId: OrganizationId,
    person: UserId,
    { personMax, organizationMax }: PromptLimit,
  ): Promise<PromptOutcome> {
    this.atOnce += 1;
    this.atOnceMax = Math.max(this.atOnceMax, this.atOnce);
    await nextTurn();
    this.atOnce -= 1;
    const count = (who: string) => {
      const key = `${organizationId} ${who}`;
      const next = (this.counts.get(key) ?? 0) + 1;
      this.counts.set(key, next);
      return next;
    };
    const resetMs = 60_000;
    if (count(person) > personMax) return { over: 'person', resetMs };
    return count('') > organizationMax ? { over: 'organization', resetMs } : 'counted';
  }
}

/** The store of these tests refuses no authority. */
const authorizeNothing = createAuthorize({
  recheckKey: () => assert.fail('refused'),
  recheckSession: () => assert.fail('refused'),
});
const readExceeded = (outcome: PromptOutcome) => (outcome === 'counted' ? undefined : outcome.over);
const person = (name: string) => `usr_${name}` as UserId;

test('asks the store about one prompt of an organization at a time, however many arrive', async () => {
  const store = new CountingStore();
  const countUse = createCountUse({ store, authorize: authorizeNothing });
  const flood = Array.from({ length: 500 }, () => countUse(acme, person('ada'), limit, operator));
  const outcomes = await Promise.all(flood);
  assert.equal(outcomes.filter((outcome) => outcome === 'counted').length, 3);
  assert.equal(outcomes.filter((outcome) => readExceeded(outcome) === 'person').length, 497);
  assert.equal(store.atOnceMax, 1);
  assert.equal(await countUse(other, person('ada'), limit, operator), 'counted');
});

test('rejects all members once the organization has reached its limit, and nobody else', async () => {
  const store = new CountingStore();
  const countUse = createCountUse({ store, authorize: authorizeNothing });
  const outcomes: PromptOutcome[] = [];
  for (let number = 0; number < 20; number += 1)
    outcomes.push(await countUse(acme, person(`${number}`), limit, operator));
  assert.equal(outcomes.filter((outcome) => outcome === 'counted').length, 5);
  assert.equal(outcomes.filter((outcome) => readExceeded(outcome) === 'organization').length, 15);
  assert.equal(await countUse(other, person('0'), limit, operator), 'counted');
});

test('counts prompts exactly on nodes whose clocks differ by several minutes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-prompts-'));
  const world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
  t.after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const organizationId = await world.organization();
  const userId = await world.member(organizationId);
  const limits = { ...defaultLimits, consolePromptsPerMinute: 4 };
  const nodes = [0, 5 * 60_000].map(() => {
    const store = { ...world.store };
    const countUse = createCountUse({ store, authorize: authorizeWrites(store) });
    return createPromptLimit({ countUse, limits });
  });
  const send = (index: number) =>
    nodes[index % 2]!(createPrincipal(organizationId, userId)).then(
      () => 'sent',
      ({ retryAfterSeconds }) => retryAfterSeconds,
    );
  world.clock.pass(15_000);
  const outcomes = [];
  for (let index = 0; index < 10; index += 1) outcomes.push(await send(index));
  assert.deepEqual(outcomes, [...Array(4).fill('sent'), ...Array(6).fill(45)]);
  world.clock.pass(45_000);
  assert.equal(await send(0), 'sent');
});
