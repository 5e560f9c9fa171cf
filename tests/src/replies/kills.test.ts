import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { sendMany } from '../../harness/http/load.ts';
import { type Asked, askForPieces, Observations } from '../../harness/replies/observations.ts';
import { countRunningReplies, SharedStore } from '../../harness/replies/shared-store.ts';

const rounds = 5;
const askedPerRound = 60;
/** Replies take different times and end one after the other, so that a kill hits some of them while they end. */
const pauseMs = (place: number) => 120 + place * 4;

describe('A service that is killed in the middle of replies', () => {
  it(`completes each of ${rounds * askedPerRound} replies once, in full, although it was killed ${rounds} times`, {
    timeout: 600_000,
  }, async (t) => {
    // The lease is ten minutes, so that only the next process's start can recover the claims of a dead one.
    const store = await SharedStore.prepare({
      SKEIN_REPLY_LEASE_MS: '600000',
      SKEIN_REPLY_CONCURRENCY: '2000',
      SKEIN_REPLY_ATTEMPTS: '1',
    });
    let service = await store.start();
    await store.allowMany(service);
    const asked: Asked[] = [];
    const seen = new Observations();
    let cutOff = 0;
    for (let round = 0; round < rounds; round += 1) {
      const api = store.as('ada', service);
      asked.push(...(await askMany(api, round)));
      await (round % 2 === 0 ? untilTheyRun(api, asked, seen) : untilSomeEnd(api, asked, seen));
      cutOff += asked.length - seen.ended.size;
      assert.equal(await service.end('SIGKILL'), 'SIGKILL');
      service = await store.start();
      await seen.lookAt(store.as('ada', service), asked);
    }
    assert.ok(cutOff > rounds * 10, `${cutOff} replies were running at a kill`);
    await seen.untilAllEnded(store.as('ada', service), asked);
    assert.deepEqual(seen.statuses(), ['completed']);
    assert.equal(seen.ended.size, rounds * askedPerRound);
    await assertAllListed(store.as('ada', service), asked);
    assert.equal(await countRunningReplies(service), 0);
    assert.equal(await service.end(), 0);
    t.diagnostic(`${asked.length} replies, ${cutOff} times one was cut off`);
  });
});

function askMany(api: Api, round: number): Promise<Asked[]> {
  return sendMany(askedPerRound, 16, (place) => {
    const pieces = ['a', 'b', 'c', 'd'].map((part) => `[${round}-${place}-${part}]`);
    return askForPieces(api, pieces, pauseMs(place), [`#step Round ${round}`]);
  });
}

/** Waits until the newest are being written. None of the slower ones can have ended by then. */
async function untilTheyRun(api: Api, asked: readonly Asked[], seen: Observations): Promise<void> {
  await api.until(asked.at(-1)!.threadId, ({ messages }) => messages[1].content !== '');
  await seen.lookAt(api, asked);
}

/** Waits until replies are ending, so that others end at the same time as the kill. */
async function untilSomeEnd(api: Api, asked: readonly Asked[], seen: Observations): Promise<void> {
  const before = seen.ended.size;
  await seen.lookUntil(() => seen.ended.size >= before + 5, api, asked);
}

async function assertAllListed(api: Api, asked: readonly Asked[]): Promise<void> {
  const listed = (await api.walk({ limit: 100 })).map(({ id }) => id);
  assert.deepEqual(listed.toSorted(), asked.map(({ threadId }) => threadId).toSorted());
}
