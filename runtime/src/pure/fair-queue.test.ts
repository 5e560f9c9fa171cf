import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue } from './fair-queue.ts';

/** Records who got a slot, in order. */
function recorded(queue: FairQueue<string>) {
  const served: string[] = [];
  const ask = (key: string, signal?: AbortSignal) =>
    queue.acquire(key, signal).then(
      () => void served.push(key),
      () => void served.push(`${key} left`),
    );
  return { served, ask };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('A fair queue', () => {
  it('serves waiting callers in turn, however many requests one has', async () => {
    const queue = new FairQueue<string>(1);
    const { served, ask } = recorded(queue);
    for (const key of ['busy', 'busy', 'busy', 'busy', 'quiet', 'other']) void ask(key);
    for (let round = 0; round < 6; round += 1) {
      await settled();
      queue.release(served[round]!);
    }
    assert.deepEqual(served, ['busy', 'busy', 'quiet', 'other', 'busy', 'busy']);
  });

  it('hands out all its slots, and reuses released ones', async () => {
    const queue = new FairQueue<string>(2);
    const { served, ask } = recorded(queue);
    for (const key of ['a', 'b', 'c']) void ask(key);
    await settled();
    assert.deepEqual(served, ['a', 'b']);
    queue.release('a');
    queue.release('b');
    await settled();
    assert.deepEqual(served, ['a', 'b', 'c']);
    void ask('d');
    await settled();
    assert.deepEqual(served, ['a', 'b', 'c', 'd']);
  });

  it('keeps a slot for others if the slots per caller are limited', async () => {
    const queue = new FairQueue<string>(3, 2);
    const { served, ask } = recorded(queue);
    for (const key of ['a', 'a', 'a', 'b']) void ask(key);
    await settled();
    assert.deepEqual(served, ['a', 'a', 'b']);
    queue.release('b');
    await settled();
    assert.deepEqual(served, ['a', 'a', 'b'], 'it already holds its maximum');
    queue.release('a');
    await settled();
    assert.deepEqual(served, ['a', 'a', 'b', 'a']);
  });

  it('forgets a caller that gives up waiting', async () => {
    const queue = new FairQueue<string>(1);
    const { served, ask } = recorded(queue);
    const gaveUp = new AbortController();
    void ask('first');
    void ask('second', gaveUp.signal);
    void ask('third');
    void ask('third', gaveUp.signal);
    void ask('third');
    await settled();
    gaveUp.abort();
    await settled();
    queue.release('first');
    await settled();
    queue.release('third');
    await settled();
    assert.deepEqual(served, ['first', 'second left', 'third left', 'third', 'third']);
    assert.equal(queue.waiting('third'), 0);
    await assert.rejects(queue.acquire('late', gaveUp.signal));
  });

  it('frees the slot of work that fails, and takes a slot only if one is free', async () => {
    const queue = new FairQueue<string>(1);
    const fails = queue.run('a', async () => {
      assert.equal(queue.take('b'), false);
      throw new Error('failed');
    });
    await assert.rejects(fails, /failed/);
    assert.equal(queue.take('b'), true);
  });
});
