import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { ask, at, publish, untilEnded } from '../../harness/console/thread-calls.ts';
import { assertDone, assertRefused, type Visitor } from '../../harness/console/visitor.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

describeOnEachEngine('Threads of other people in the console', ({ sharedStore }) => {
  let world: SettingsWorld;
  let ada: Visitor;
  let ben: Visitor;
  let eve: Visitor;
  before(async () => {
    world = await sharedSettingsWorld(await sharedStore());
    ({ ada, ben, eve } = world);
  });

  describe('are rated', () => {
    const rate = (visitor: Visitor, id: string, body: object) =>
      visitor.call('PUT', at(id, '/rating'), { body });
    const listRatings = async (visitor: Visitor, id: string) =>
      assertDone(await visitor.get(at(id, '/ratings'))).ratings;
    const unanswered = async (visitor: Visitor) =>
      assertDone(await visitor.get('/unanswered?limit=100')).replies;

    it('by everyone who may read them, and listed for admins who may read them', async () => {
      const prompt = 'When is the **work_shop** [1]?';
      const { thread } = await ask(ben, prompt);
      const reply = (await untilEnded(ben, thread.id)).messages[1];
      const down = { messageId: reply.id, value: 'down', comment: 'It moved to Friday.' };
      const isListed = async () => (await unanswered(ada)).some((one: any) => one.messageId === reply.id);
      assertDone(await rate(ben, thread.id, down));
      assert.deepEqual(await listRatings(ben, thread.id), [down]);
      assert.equal(await isListed(), false, 'an admin cannot see the private thread of another person');
      assertRefused(await rate(ada, thread.id, down), 404);
      assert.deepEqual(await listRatings(ada, thread.id), []);
      assertDone(await publish(ben, thread.id));
      const [listed] = (await unanswered(ada)).filter((one: any) => one.messageId === reply.id);
      assert.deepEqual(
        [
          listed.threadId,
          listed.prompt,
          listed.askedBy,
          listed.complaints[0].by,
          listed.complaints[0].comment,
        ],
        [thread.id, prompt, world.email('ben'), world.email('ben'), down.comment],
      );
      assert.match(listed.reply, /You asked: When is the work_shop\?/, 'plain text without citations');
      assertDone(await rate(ada, thread.id, { messageId: reply.id, value: 'up' }));
      assertDone(await rate(ben, thread.id, { messageId: reply.id, value: null }));
      assert.deepEqual(await listRatings(ben, thread.id), []);
      assert.equal(await isListed(), false);
      for (const visitor of [eve]) {
        assertRefused(await rate(visitor, thread.id, down), 404);
        assertRefused(
          await visitor.intrude(world.acme, 'PUT', at(thread.id, '/rating'), { body: down }),
          404,
        );
        assertRefused(await visitor.intrude(world.acme, 'GET', '/unanswered'), 404);
      }
      assertRefused(await ben.get('/unanswered'), 403);
    });

    it('unless the request is invalid', async () => {
      const { thread, messages } = await ask(ada, 'x');
      await untilEnded(ada, thread.id);
      const messageId = messages[1].id;
      for (const [body, fault] of [
        [{ value: 'up' }, /required field `messageId`/],
        [{ messageId }, /required field `value`/],
        [{ messageId, value: 'sideways' }, /value/],
        [
          { messageId, value: 'down', comment: 'x'.repeat(1001) },
          /`comment` must be a string with at most 1,000/,
        ],
        [{ messageId, value: 'down', comment: 'a\0b' }, /`comment` .*NUL/],
      ] as const)
        assertRefused(await rate(ada, thread.id, body), 400, fault);
      assertRefused(await rate(ada, thread.id, { messageId: messages[0].id, value: 'up' }), 404);
      assertRefused(await rate(ada, 'thr_missing', { messageId, value: 'up' }), 404);
      assertRefused(await ada.get('/unanswered?cursor=x'), 400, /cursor/);
    });
  });

  describe('are protected', () => {
    const calls: readonly (readonly [string, string, unknown?])[] = [
      ['PATCH', '', { title: 'Taken' }],
      ['DELETE', ''],
      ['PUT', '/published', { published: false }],
      ['POST', '/messages', { prompt: 'Mine now' }],
      ['POST', '/retry'],
      ['POST', '/stop'],
    ];
    const reads = ['', '/events'];
    const send = (visitor: Visitor, id: string, [method, path, body]: (typeof calls)[number]) =>
      visitor.call(method, at(id, path), { body });

    it('from everyone else while they are unpublished, with 404', async () => {
      const { thread } = await ask(ada, 'x');
      for (const visitor of [ben, eve]) {
        for (const call of calls) assertRefused(await send(visitor, thread.id, call), 404);
        for (const path of reads) assertRefused(await visitor.get(at(thread.id, path)), 404);
        assertRefused(await visitor.post(at(thread.id, '/restore')), 404);
      }
    });

    it('from changes by others when they are published, and from reads of other organizations', async () => {
      const { thread } = await ask(ada, '#fail', { title: 'Kept' });
      await untilEnded(ada, thread.id);
      assertDone(await publish(ada, thread.id));
      for (const call of calls) {
        assertRefused(await send(ben, thread.id, call), 403);
        assertRefused(await send(eve, thread.id, call), 404);
        assertRefused(await eve.intrude(world.acme, call[0], at(thread.id, call[1]), { body: call[2] }), 404);
      }
      for (const path of reads) {
        assertRefused(await eve.get(at(thread.id, path)), 404);
        assertRefused(await eve.intrude(world.acme, 'GET', at(thread.id, path)), 404);
      }
      const kept = assertDone(await ben.get(at(thread.id)));
      assert.deepEqual([kept.thread.title, kept.messages.length], ['Kept', 2]);
    });

    it('with any id', async () => {
      for (const id of ['thr_missing', 'x', 'thr_00000000000000000000000000', '%00', '..%2fkeys']) {
        for (const call of calls) assertRefused(await send(ada, id, call), 404);
        for (const path of reads) assertRefused(await ada.get(at(id, path)), 404);
        assertRefused(await ada.client.get(`/home/${id}`), 404);
      }
    });
  });
});
