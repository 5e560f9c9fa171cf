import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId } from './id.ts';
import { SearchQueue } from './search-queue.ts';

const one = 'org_one' as OrganizationId;
const other = 'org_other' as OrganizationId;
const rateLimited = { code: 'RATE_LIMITED' };

describe('The queue of searches', () => {
  it('lets eight of an organization wait, and another organization go next', async () => {
    const queue = new SearchQueue(1);
    const order: string[] = [];
    const held = Promise.withResolvers<void>();
    const search = (key: OrganizationId) => queue.run(key, async () => void order.push(key));
    const first = queue.run(one, () => held.promise);
    const waiting = Array.from({ length: 8 }, () => search(one));
    await assert.rejects(search(one), rateLimited);
    const next = search(other);
    held.resolve();
    await Promise.all([first, next, ...waiting]);
    assert.deepEqual(order.slice(0, 3), [one, other, one]);
    assert.equal(order.length, 9);
  });

  it('rejects a search that is aborted, waiting or running, and frees its slot', async () => {
    const queue = new SearchQueue(1);
    const late = new AbortController();
    const untilLate = () =>
      new Promise<never>((_, reject) => {
        late.signal.addEventListener('abort', () => reject(late.signal.reason));
      });
    const running = assert.rejects(queue.run(one, untilLate, late.signal), rateLimited);
    const waiting = assert.rejects(
      queue.run(one, async () => {}, late.signal),
      rateLimited,
    );
    await new Promise(setImmediate);
    late.abort();
    await Promise.all([running, waiting]);
    assert.equal(await queue.run(one, async () => 'found'), 'found');
  });

  it('passes on other errors, even after an abort', async () => {
    const queue = new SearchQueue(1);
    const late = new AbortController();
    const failure = new Error('The store cannot be read.');
    const fail = async () => {
      late.abort();
      throw failure;
    };
    const failing = queue.run(one, fail, late.signal);
    await assert.rejects(failing, (error) => error === failure);
  });
});
