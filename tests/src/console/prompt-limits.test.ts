import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type SettingsWorld, startSettingsWorld } from '../../harness/console/settings-world.ts';
import { ask, at, untilEnded } from '../../harness/console/thread-calls.ts';
import { assertDone, assertRefused, type Visitor } from '../../harness/console/visitor.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

const send = (visitor: Visitor) => visitor.call('POST', '/threads', { body: { prompt: 'Hello' } });

describeOnEachEngine('Prompts in the console', ({ freshStore }) => {
  describe('are limited per day', () => {
    let world: SettingsWorld;
    before(async () => {
      world = await startSettingsWorld({
        ...(await freshStore()),
        SKEIN_CONSOLE_PROMPTS_PER_DAY: '3',
        SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_DAY: '5',
      });
    });
    after(() => world?.end());

    it('for a person, whether they start a thread, follow up, retry or test a question', async () => {
      const { ada } = world;
      const { thread } = await ask(ada, '#fail');
      await untilEnded(ada, thread.id);
      assertDone(await ada.call('POST', at(thread.id, '/retry'), {}));
      await untilEnded(ada, thread.id);
      assertDone(await ada.call('POST', at(thread.id, '/messages'), { body: { prompt: 'And now?' } }), 201);
      const ended = await untilEnded(ada, thread.id);
      const refused = [
        await send(ada),
        await ada.call('POST', at(thread.id, '/messages'), { body: { prompt: 'Once more' } }),
        await ada.call('POST', at(thread.id, '/retry'), {}),
        await ada.post('/documents/search', { question: 'Anything new?' }),
      ];
      for (const answer of refused) {
        assertRefused(answer, 429, /^You have reached the limit of 3 prompts a day\./);
      }
      assert.equal((await untilEnded(ada, thread.id)).messages.length, ended.messages.length);
      // As the page of unanswered questions does it.
      assertDone(await ada.post('/documents/search', { question: 'And now?', asked: true }));
    });

    it('for all members together, but not for other organizations', async () => {
      const { ben, eve } = world;
      assertDone(await send(ben), 201);
      assertDone(await send(ben), 201);
      assertRefused(await send(ben), 429, /^Your organization has reached the limit of 5 prompts a day\./);
      assertDone(await send(eve), 201);
    });

    it('without repeated questions, of which only a few may wait for their search', async () => {
      const search = (visitor: Visitor) =>
        visitor.post('/documents/search', { question: 'How long do refunds take?', asked: true });
      const text = Array.from({ length: 2_000 }, (_, day) => `# Day ${day}\n\nRefunds take ${day} days.\n`);
      assertDone(await world.ada.upload({ name: 'refunds.md' }, text.join('\n')), 201);
      const many = Array.from({ length: 300 }, () => search(world.ada));
      assertDone(await search(world.eve));
      const answers = await Promise.all(many);
      const refused = answers.filter(({ status }) => status !== 200);
      assert.ok(refused.length > 0 && refused.length < answers.length, `${refused.length} were refused`);
      for (const answer of refused)
        assertRefused(answer, 429, /^Your organization has 8 searches waiting|^The search took too long/);
      const failures = world.service.output.filter((line) => line.includes('"stack"'));
      assert.deepEqual(failures, []);
      assertDone(await search(world.ada));
    });
  });

  it('are limited per minute, without counting rejected prompts against the day', async () => {
    const world = await startSettingsWorld({
      ...(await freshStore()),
      SKEIN_CONSOLE_PROMPTS_PER_MINUTE: '3',
      SKEIN_CONSOLE_PROMPTS_PER_DAY: '20',
    });
    try {
      const answers = [];
      for (let sent = 0; sent < 30; sent += 1) answers.push(await send(world.ada));
      const refused = answers.filter(({ status }) => status === 429);
      // If a new minute starts meanwhile, three more are accepted.
      assert.ok(refused.length >= 20, `${refused.length} of 30 were refused`);
      for (const { body } of refused)
        assert.match(body.error.message, /^You have reached the limit of 3 prompts a minute\./);
      assertDone(await send(world.ben), 201);
    } finally {
      await world.end();
    }
  });
});
