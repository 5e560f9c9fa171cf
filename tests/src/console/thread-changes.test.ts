import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { ConsoleResponse } from '../../harness/console/console-client.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import {
  ask,
  at,
  isoTime,
  listTitles,
  publish,
  untilEnded,
  walk,
} from '../../harness/console/thread-calls.ts';
import { assertDone, assertRefused, type Visitor } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

describeOnEachEngine('Changes of threads in the console', ({ sharedStore }) => {
  let world: SettingsWorld;
  let ada: Visitor;
  let ben: Visitor;
  before(async () => {
    world = await sharedSettingsWorld(await sharedStore());
    ({ ada, ben } = world);
  });

  describe('are changed', () => {
    it('by a new title, which moves them to the top', async () => {
      const { thread } = await ask(ada, 'x', { accountId: 'acct_renamed' });
      await ask(ada, 'x', { accountId: 'acct_renamed', title: 'Later' });
      const renamed = assertDone(await ada.patch(at(thread.id), { title: 'Renamed' })).thread;
      assert.deepEqual([renamed.title, renamed.mine], ['Renamed', true]);
      assert.match(renamed.updatedAt, isoTime);
      const listed = await walk(ada, { accountId: 'acct_renamed' });
      assert.deepEqual(listTitles({ threads: listed }), ['Renamed', 'Later']);
      assertRefused(await ada.patch(at(thread.id), { title: '' }), 400, /`title`/);
    });

    it('by publishing, which shows them and their creator to the organization', async () => {
      const { thread } = await ask(ada, 'x');
      assertRefused(await ben.get(at(thread.id)), 404);
      assert.equal(assertDone(await publish(ada, thread.id)).thread.published, true);
      const seen = assertDone(await ben.get(at(thread.id))).thread;
      assert.deepEqual([seen.mine, seen.createdBy], [false, world.email('ada')]);
      assert.equal(assertDone(await publish(ada, thread.id, false)).thread.published, false);
      assertRefused(await ben.get(at(thread.id)), 404);
      assertRefused(await ada.call('PUT', at(thread.id, '/published'), { body: {} }), 400, /`published`/);
    });

    it('by deleting, which can be undone', async () => {
      const { thread } = await ask(ada, '#say Half\n#hang');
      await eventually(
        async () => (await ada.get(at(thread.id))).body.messages[1].content,
        (content) => content === 'Half',
      );
      assert.deepEqual(assertDone(await ada.delete(at(thread.id))), { undoSeconds: 600 });
      assertRefused(await ada.get(at(thread.id)), 404);
      assertRefused(await ada.delete(at(thread.id)), 404);
      assertRefused(await ben.post(at(thread.id, '/restore')), 404);
      assert.equal(assertDone(await ada.post(at(thread.id, '/restore'))).thread.id, thread.id);
      const { messages, state } = assertDone(await ada.get(at(thread.id)));
      assert.deepEqual([state, messages[1].status, messages[1].content], ['idle', 'cancelled', 'Half']);
      assertRefused(await ada.post(at(thread.id, '/restore')), 404);
    });

    it('and the audit log says by whom', async () => {
      const { thread } = await ask(ada, 'x');
      const deeds: ConsoleResponse[] = [
        await publish(ada, thread.id),
        await publish(ada, thread.id, false),
        await ada.delete(at(thread.id)),
        await ada.post(at(thread.id, '/restore')),
      ];
      const written: string[] = [];
      for (const { headers } of deeds) {
        const traceId = headers.get('x-request-id') ?? '';
        const { events } = assertDone(await ada.get(`/audit?traceId=${traceId}`));
        for (const { action, subject, actor } of events) {
          assert.deepEqual([subject, actor], [thread.id, world.email('ada')]);
          written.push(action);
        }
      }
      assert.deepEqual(written, [
        'thread.published',
        'thread.unpublished',
        'thread.deleted',
        'thread.restored',
      ]);
    });
  });

  describe('continue', () => {
    it('with a follow-up, once the reply has ended', async () => {
      const { thread } = await ask(ada, '#say First\n#hang', { accountId: 'acct_asked' });
      await ask(ada, 'Later', { accountId: 'acct_asked', title: 'Later' });
      assertRefused(
        await ada.post(at(thread.id, '/messages'), { prompt: 'Too early' }),
        400,
        /still in progress/,
      );
      assertDone(await ada.post(at(thread.id, '/stop')));
      const view = assertDone(await ada.post(at(thread.id, '/messages'), { prompt: 'And then?' }), 201);
      assert.deepEqual(
        view.messages.map(({ role }: any) => role),
        ['user', 'assistant', 'user', 'assistant'],
      );
      assert.match(view.thread.updatedAt, isoTime);
      const { messages } = await untilEnded(ada, thread.id);
      assert.match(messages[3].content, /You asked: And then\?/);
      assert.equal((await walk(ada, { accountId: 'acct_asked' }))[0].id, thread.id, 'it moves to the top');
      assertRefused(await ada.post(at(thread.id, '/messages'), { prompt: '' }), 400, /`prompt`/);
      assertRefused(await ada.post(at(thread.id, '/messages'), {}), 400, /`prompt`/);
    });

    it('with a retry after a stop, which keeps the text so far', async () => {
      const { thread } = await ask(ada, '#say Half\n#hang');
      await eventually(
        async () => (await ada.get(at(thread.id))).body.messages[1].content,
        (content) => content === 'Half',
      );
      const stopped = assertDone(await ada.post(at(thread.id, '/stop')));
      assert.deepEqual(
        [stopped.state, stopped.messages[1].status, stopped.messages[1].content],
        ['idle', 'cancelled', 'Half'],
      );
      assertDone(await ada.post(at(thread.id, '/stop')));
      const tried = assertDone(await ada.post(at(thread.id, '/retry')));
      assert.deepEqual([tried.state, tried.messages.length], ['in_progress', 3]);
      assertRefused(await ada.post(at(thread.id, '/retry')), 400, /still in progress/);
      assertDone(await ada.post(at(thread.id, '/stop')));
    });

    it('with a retry after a failure, whose reason and trace ID the creator sees', async () => {
      const asked = await ada.post('/threads', { prompt: '#step Reading\n#fail' });
      const { thread } = assertDone(asked, 201);
      const failed = await untilEnded(ada, thread.id);
      const [, reply] = failed.messages;
      assert.deepEqual([failed.state, reply.status], ['error', 'failed']);
      assert.equal(reply.failure, 'The script says so.');
      assert.equal(reply.traceId, asked.headers.get('x-request-id'));

      const { events } = assertDone(await ada.get(`/audit?traceId=${reply.traceId}`));
      assert.deepEqual(
        events.map(({ action, subject, actor, detail }: any) => [action, subject, actor, detail.reason]),
        [['reply.failed', thread.id, 'Skein', 'The script says so.']],
      );
      assertDone(await publish(ada, thread.id));
      const [, seen] = assertDone(await ben.get(at(thread.id))).messages;
      assert.deepEqual([seen.status, seen.failure, seen.traceId], ['failed', null, null]);

      const retried = await ada.post(at(thread.id, '/retry'));
      assert.equal(assertDone(retried).messages.length, 3);
      const again = (await untilEnded(ada, thread.id)).messages[2];
      assert.equal(again.traceId, retried.headers.get('x-request-id'));
      assert.notEqual(again.traceId, reply.traceId);
    });

    it('with another version of a finished reply, which keeps the earlier one', async () => {
      const { thread } = await ask(ada, 'x');
      const [, first] = (await untilEnded(ada, thread.id)).messages;
      assertDone(await ada.post(at(thread.id, '/retry')));
      const { messages, state, thread: after } = await untilEnded(ada, thread.id);
      assert.deepEqual([messages.length, state, after.updatedAt], [3, 'idle', null]);
      assert.deepEqual(messages[1], first);
    });

    it('with an edited version of the last prompt, which keeps the earlier one', async () => {
      const { thread } = await ask(ada, 'Original');
      const before = (await untilEnded(ada, thread.id)).messages;
      const edit = (replaces: unknown, prompt = 'Edited') =>
        ada.post(at(thread.id, '/messages'), { prompt, replaces });
      for (const other of [before[1].id, 'msg_missing'])
        assertRefused(await edit(other), 400, /Only the last prompt/);
      for (const nonsense of ['', 1, null]) assertRefused(await edit(nonsense), 400, /replaces/);
      assertDone(await edit(before[0].id), 201);
      const { messages } = await untilEnded(ada, thread.id);
      assert.deepEqual(messages.slice(0, 2), before);
      assert.deepEqual([messages[2].content, messages[2].replaces], ['Edited', before[0].id]);
      assert.match(messages[3].content, /You asked: Edited/);
      assertRefused(await edit(before[0].id), 400, /Only the last prompt/);
    });
  });
});
