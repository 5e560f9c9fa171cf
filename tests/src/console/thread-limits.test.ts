import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type SettingsWorld, startSettingsWorld } from '../../harness/console/settings-world.ts';
import { ask, at, untilEnded } from '../../harness/console/thread-calls.ts';
import { assertDone, assertRefused } from '../../harness/console/visitor.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

describeOnEachEngine('A thread in the console', ({ freshStore }) => {
  let world: SettingsWorld;
  before(async () => {
    world = await startSettingsWorld({
      ...(await freshStore()),
      SKEIN_THREAD_MESSAGES_MAX: '5',
      SKEIN_THREAD_BYTES_MAX: '2048',
    });
  });
  after(() => world?.end());

  const followUp = (id: string, prompt: string) => world.ada.post(at(id, '/messages'), { prompt });

  it('rejects a prompt or a retry above its message limit, and says so', async () => {
    const { ada } = world;
    const { thread } = await ask(ada, '#say One.');
    await untilEnded(ada, thread.id);
    assertDone(await followUp(thread.id, '#fail'), 201);
    await untilEnded(ada, thread.id);
    const full = /^This would exceed the thread's limit of 5 messages\. Start a new thread\.$/;
    assertRefused(await followUp(thread.id, 'More'), 400, full);
    assertDone(await ada.post(at(thread.id, '/retry')));
    assert.equal((await untilEnded(ada, thread.id)).messages.length, 5);
    assertRefused(await ada.post(at(thread.id, '/retry')), 400, full);
  });

  it('rejects a prompt above its size limit, and accepts a shorter one', async () => {
    const { ada } = world;
    const { thread } = await ask(ada, '#say One.');
    await untilEnded(ada, thread.id);
    const full = /^This would exceed the thread's limit of 2 kB\. Start a new thread\.$/;
    assertRefused(await followUp(thread.id, 'é'.repeat(1024)), 400, full);
    assertDone(await followUp(thread.id, '#say Two.'), 201);
    assert.equal((await untilEnded(ada, thread.id)).messages.length, 4);
  });

  it('accepts one of several concurrent prompts at the limit', async () => {
    const { ada } = world;
    const { thread } = await ask(ada, '#say One.');
    await untilEnded(ada, thread.id);
    const answers = await Promise.all(Array.from({ length: 12 }, () => followUp(thread.id, '#say Two.')));
    const taken = answers.filter(({ status }) => status === 201);
    assert.equal(taken.length, 1);
    assert.equal((await untilEnded(ada, thread.id)).messages.length, 4);
  });
});
