import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { sendMany } from '../../harness/http/load.ts';
import { countRunningReplies, SharedStore } from '../../harness/replies/shared-store.ts';
import { makeMember, makeOrganization } from '../../harness/world/tenants.ts';
import { createThread } from '../../harness/world/world.ts';

const floodCount = 500;
const promptlyMs = 5000;

describe('An organization that requests more replies than there are slots', () => {
  it('does not delay replies of other organizations, and leaves nothing behind once its threads are deleted', {
    timeout: 60_000,
  }, async () => {
    const store = await SharedStore.prepare({ SKEIN_REPLY_CONCURRENCY: '8' });
    const service = await store.start();
    const third = await makeOrganization(service, 'Initech');
    const { api: ivy } = await makeMember(service, third, 'ivy@initech.example');
    const [ada, eve] = [store.as('ada', service), store.as('eve', service)];
    const flood = await sendMany(floodCount, 16, async () => {
      return (await createThread(eve, { prompt: '#say Here to stay.\n#hang' })).thread.id as string;
    });
    // They occupy every slot they can get: one has text, and the last has not started.
    await eve.until(flood[0]!, ({ messages }) => messages[1].content === 'Here to stay.');

    for (let round = 0; round < 5; round += 1) {
      await Promise.all([
        answersPromptly(ada, round),
        answersPromptly(ivy, round),
        answersPromptly(ada, round),
      ]);
    }
    assert.equal((await eve.get(flood.at(-1)!)).body.messages[1].content, '');
    assert.equal(await countRunningReplies(service), floodCount);

    await sendMany(floodCount, 16, async (index) => {
      assert.equal((await eve.delete(flood[index]!)).status, 200);
    });
    assert.equal(await countRunningReplies(service), 0);
    await Promise.all(Array.from({ length: 10 }, (_, index) => answersPromptly(eve, index)));
    assert.equal(await service.end(), 0);
  });
});

async function answersPromptly(api: Api, round: number): Promise<void> {
  const { thread } = await createThread(api, { prompt: `#wait 50\n#say Round ${round}.` });
  const { messages } = await api.untilDone(thread.id, promptlyMs);
  assert.deepEqual([messages[1].status, messages[1].content], ['completed', `Round ${round}.`]);
}
