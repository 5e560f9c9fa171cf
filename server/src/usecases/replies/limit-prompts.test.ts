import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { countUse } from './limit-prompts.ts';

const acme = 'org_acme' as OrganizationId;
const other = 'org_other' as OrganizationId;
const limit = { period: 'minute', startedAt: 0, personMax: 3, organizationMax: 5 } as const;

/** Counts like the real ones, and how often it was asked, and by how many of one organization at once. */
class CountingStore {
  readonly counts = new Map<string, number>();
  asked = 0;
  atOnce = 0;
  atOnceMax = 0;

  async countPrompt(
    organizationId: OrganizationId,
    person: UserId,
    { startedAt, personMax, organizationMax }: any,
  ) {
    this.asked += 1;
    this.atOnce += 1;
    this.atOnceMax = Math.max(this.atOnceMax, this.atOnce);
    await nextTurn();
    this.atOnce -= 1;
    const count = (who: string) => {
      const key = `${organizationId} ${startedAt} ${who}`;
      const next = (this.counts.get(key) ?? 0) + 1;
      this.counts.set(key, next);
      return next;
    };
    if (count(person) > personMax) return 'person-limit';
    return count('') > organizationMax ? 'organization-limit' : 'counted';
  }
}

const person = (name: string) => `usr_${name}` as UserId;

test('queries the store only once more than the limit, however many prompts arrive', async () => {
  const store = new CountingStore();
  const flood = Array.from({ length: 500 }, () => countUse(store, acme, person('ada'), limit));
  const outcomes = await Promise.all(flood);
  assert.equal(outcomes.filter((outcome) => outcome === 'counted').length, 3);
  assert.equal(outcomes.filter((outcome) => outcome === 'person-limit').length, 497);
  assert.equal(store.asked, 4);
  assert.equal(store.atOnceMax, 1);
  assert.equal(await countUse(store, acme, person('ada'), { ...limit, startedAt: 60_000 }), 'counted');
  assert.equal(await countUse(store, other, person('ada'), limit), 'counted');
});

test('rejects all members once the organization has reached its limit, and nobody else', async () => {
  const store = new CountingStore();
  const outcomes: string[] = [];
  for (let number = 0; number < 20; number += 1)
    outcomes.push(await countUse(store, acme, person(`${number}`), limit));
  assert.equal(outcomes.filter((outcome) => outcome === 'counted').length, 5);
  assert.equal(outcomes.filter((outcome) => outcome === 'organization-limit').length, 15);
  assert.equal(store.asked, 6);
  assert.equal(await countUse(store, other, person('0'), limit), 'counted');
});
