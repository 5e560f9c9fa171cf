import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadOnce } from './load-once.ts';

it('loads again only after a failure', async () => {
  let calls = 0;
  const load = loadOnce(async () => {
    calls += 1;
    if (calls === 1) throw new Error('no file descriptor left');
    return calls;
  });
  const failed = await Promise.allSettled([load(), load()]);
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(calls, 1);
  assert.deepEqual(await Promise.all([load(), load()]), [2, 2]);
  assert.equal(await load(), 2);
});
