import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sendMany } from '../../harness/http/load.ts';
import { listCrashes } from '../../harness/replies/crashes.ts';
import { askForPieces, Observations } from '../../harness/replies/observations.ts';
import { SharedStore } from '../../harness/replies/shared-store.ts';

const restarts = 3;
/** The pause between two pieces of a reply: long enough to stop the service first, even on a busy machine. */
const pieceMs = 3000;

describe('A service that is stopped and started again in the middle of replies', {
  concurrency: true,
}, () => {
  it('hands them to the next process, which starts at once, and counts no attempt and no crash', {
    timeout: 60_000,
  }, async () => {
    // They have one attempt, and no lease expires.
    const store = await SharedStore.prepare({ SKEIN_REPLY_ATTEMPTS: '1', SKEIN_REPLY_LEASE_MS: '600000' });
    let service = await store.start();
    const ada = store.as('ada', service);
    const asked = await sendMany(40, 8, (place) =>
      askForPieces(
        ada,
        ['a', 'b', 'c'].map((part) => `[${place}-${part}]`),
        pieceMs,
      ),
    );
    const seen = new Observations();
    for (let restart = 0; restart < restarts; restart += 1) {
      const api = store.as('ada', service);
      const last = asked.at(-1)!.threadId;
      await api.until(last, ({ messages }) => messages[1].content !== '');
      await seen.lookAt(api, asked);
      assert.ok(seen.ended.size < asked.length, 'some replies are under way at each stop');
      assert.equal(await service.end(), 0);
      service = await store.start();
      assert.deepEqual(listCrashes(service), []);
    }
    await seen.untilAllEnded(store.as('ada', service), asked);
    assert.deepEqual(seen.statuses(), ['completed']);
    assert.equal(await service.end(), 0);
  });

  it('hands them to a worker that is already running', { timeout: 60_000 }, async () => {
    const store = await SharedStore.prepare({ SKEIN_REPLY_LEASE_MS: '600000' });
    const [door, first] = await Promise.all([store.start('api'), store.start('worker')]);
    const api = store.as('ada', door);
    const asked = await sendMany(10, 10, (place) => askForPieces(api, [`[${place}-a]`, `[${place}-b]`], 700));
    for (const { threadId } of asked) await api.until(threadId, ({ messages }) => messages[1].content !== '');
    const second = await store.start('worker');
    assert.equal(await first.end(), 0);
    const seen = new Observations();
    await seen.untilAllEnded(api, asked);
    assert.deepEqual(seen.statuses(), ['completed']);
    for (const process of [second, door]) assert.equal(await process.end(), 0);
  });
});
