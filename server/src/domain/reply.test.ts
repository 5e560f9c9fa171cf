import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryDelayMs, shareSlots, takeTurns } from './reply.ts';

describe('The delay before the next attempt', () => {
  const failed = { attempts: 1, retryAfterMs: undefined, remainingMs: 600_000 };

  it('doubles with every attempt up to half a minute, with random jitter', () => {
    const delays = (chance: number) =>
      [1, 2, 3, 9].map((attempts) => retryDelayMs({ ...failed, attempts }, 10, chance));
    assert.deepEqual(delays(0), [500, 1000, 2000, 15_000]);
    assert.deepEqual(delays(1), [1000, 2000, 4000, 30_000]);
  });

  it('is never shorter than the provider asked for', () => {
    assert.equal(retryDelayMs({ ...failed, retryAfterMs: 20_000 }, 3, 1), 20_000);
    assert.equal(retryDelayMs({ ...failed, retryAfterMs: 1 }, 3, 1), 1000);
  });

  it('is undefined after the last attempt, and if it would end past the deadline', () => {
    assert.equal(retryDelayMs({ ...failed, attempts: 3 }, 3, 1), undefined);
    assert.equal(retryDelayMs({ ...failed, attempts: 1 }, 1, 1), undefined);
    assert.equal(retryDelayMs({ ...failed, remainingMs: 1000 }, 3, 1), undefined);
    assert.equal(retryDelayMs({ ...failed, remainingMs: 1001 }, 3, 1), 1000);
    assert.equal(retryDelayMs({ ...failed, retryAfterMs: 700_000 }, 3, 1), undefined);
  });
});

describe('The slots of a worker', () => {
  function fill(concurrency: number, organizations: string[]): Record<string, number> {
    const running = new Map(organizations.map((name) => [name, 0]));
    for (;;) {
      const used = [...running.values()].reduce((sum, count) => sum + count, 0);
      const shares = shareSlots(concurrency - used, organizations, (name) => running.get(name) ?? 0);
      if (shares.length === 0) return Object.fromEntries(running);
      for (const { organizationId, limit } of shares) {
        running.set(organizationId, (running.get(organizationId) ?? 0) + limit);
      }
    }
  }
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);

  it('go up to half to a single organization, so that the next one gets a slot at once', () => {
    assert.deepEqual(fill(256, ['a']), { a: 128 });
    assert.deepEqual(fill(4, ['a']), { a: 2 });
    assert.deepEqual(fill(1, ['a']), { a: 1 });
    assert.equal(shareSlots(64, ['b'], () => 0)[0]?.limit, 32);
  });

  it('remain for many organizations that arrive one after the other and use their whole share', () => {
    let free = 256;
    const shares: number[] = [];
    while (free > 0) {
      const [share] = shareSlots(free, ['next'], () => 0);
      shares.push(share!.limit);
      free -= share!.limit;
    }
    assert.deepEqual(shares, [128, 64, 32, 16, 8, 4, 2, 1, 1]);
  });

  it('are divided evenly among those that wait, and some stay free', () => {
    const filled = fill(256, ['a', 'b', 'c', 'd']);
    const counts = Object.values(filled);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 2, JSON.stringify(filled));
    assert.ok(sum(filled) < 256 && sum(filled) > 200, JSON.stringify(filled));
  });

  it('never exceed the free slots, and are always used while an organization waits', () => {
    for (let concurrency = 1; concurrency < 40; concurrency += 1) {
      for (let waiting = 1; waiting < 60; waiting += 1) {
        const organizations = Array.from({ length: waiting }, (_, index) => `o${index}`);
        const shares = shareSlots(concurrency, organizations, () => 0);
        const given = shares.reduce((total, { limit }) => total + limit, 0);
        assert.ok(given >= 1 && given <= concurrency, `${given} of ${concurrency} for ${waiting}`);
      }
    }
    assert.deepEqual(
      shareSlots(0, ['a'], () => 0),
      [],
    );
  });
});

describe('The slots for suspects', () => {
  const limitsOf = (free: number, organizations: string[]) =>
    takeTurns(free, organizations).map(({ organizationId, limit }) => `${organizationId} ${limit}`);

  it('all go to an organization that is alone, and otherwise to each in turn', () => {
    assert.deepEqual(limitsOf(2, ['a']), ['a 2']);
    assert.deepEqual(limitsOf(2, ['a', 'b', 'c']), ['a 1', 'b 1']);
    assert.deepEqual(limitsOf(3, ['a', 'b']), ['a 2', 'b 1']);
    assert.deepEqual(limitsOf(0, ['a']), []);
    assert.deepEqual(limitsOf(2, []), []);
  });
});
