import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { sendMany } from '../../harness/http/load.ts';
import { Observations } from '../../harness/replies/observations.ts';
import { SharedStore } from '../../harness/replies/shared-store.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { createThread } from '../../harness/world/world.ts';

const neutralSentence = 'The reply could not be generated. Please try again.';
const deadlineMs = 1500;
/** Deadlines are checked several times a second; the rest is for a busy machine. */
const lateMsMax = 10_000;

async function ask(api: Api, ...script: string[]): Promise<string> {
  return (await createThread(api, { prompt: script.join('\n') })).thread.id;
}

describe('The end of a reply', { concurrency: true }, () => {
  describe('The deadline of a reply', { concurrency: true }, () => {
    const assertFailedInTime = async (api: Api, ids: readonly string[]): Promise<void> => {
      for (const body of await Promise.all(ids.map((id) => api.untilDone(id, deadlineMs + 2 * lateMsMax)))) {
        const [, { status, content, createdAt, completedAt }] = body.messages;
        assert.deepEqual([status, content, body.status.state], ['failed', neutralSentence, 'error']);
        const tookMs = Date.parse(completedAt) - Date.parse(createdAt);
        assert.ok(tookMs >= deadlineMs && tookMs <= deadlineMs + lateMsMax, `ended after ${tookMs} ms`);
      }
    };

    it('fails replies that hang or were never started, and frees their slots', async () => {
      const store = await SharedStore.prepare({
        SKEIN_REPLY_DEADLINE_MS: String(deadlineMs),
        SKEIN_REPLY_CONCURRENCY: '4',
      });
      const service = await store.start();
      const api = store.as('ada', service);
      const ids = await sendMany(20, 10, () => ask(api, '#step Trying', '#say Half', '#hang'));
      await assertFailedInTime(api, ids);
      const id = await ask(api, '#say Free.');
      assert.equal((await api.untilDone(id)).messages[1].content, 'Free.');
      assert.equal(await service.end(), 0);
      const failures = service.output.filter((line) => line.includes('"msg":"reply failed"'));
      assert.equal(failures.length, ids.length, 'each is logged');
      for (const line of failures) {
        const { level, trace_id, thread, failure } = JSON.parse(line);
        assert.equal(level, 40);
        assert.ok(ids.includes(thread));
        assert.match(trace_id, /^[0-9a-f-]{36}$/);
        assert.match(failure, /deadline/);
      }
    });

    it('is also enforced on nodes that do not write replies', async () => {
      const store = await SharedStore.prepare({ SKEIN_REPLY_DEADLINE_MS: String(deadlineMs) });
      const service = await store.start('api');
      const api = store.as('ada', service);
      await assertFailedInTime(api, await sendMany(5, 5, () => ask(api, '#say Nobody says it.')));
      assert.equal(await service.end(), 0);
    });
  });

  describe('A reply whose model fails', { concurrency: true }, () => {
    /** The lines of the log about this reply. */
    const linesAbout = (service: Service, messageId: string): any[] =>
      service.output
        .filter((line) => line.includes(`"message":"${messageId}"`))
        .map((line) => JSON.parse(line));

    it('is retried from the start, and shows nothing of the failed attempt', async () => {
      const store = await SharedStore.prepare();
      const service = await store.start();
      const api = store.as('ada', service);
      const answer = await api.create({ prompt: '#step Once\n#say Half, \n#retry 2\n#say and whole.' });
      const done = await api.untilDone(answer.body.thread.id);
      assert.deepEqual(
        [done.messages[1].status, done.messages[1].content],
        ['completed', 'Half, and whole.'],
      );
      assert.deepEqual(done.messages[1].steps, [{ description: 'Once' }]);
      const [line, ...others] = linesAbout(service, answer.body.responseMessageId);
      assert.deepEqual(others, []);
      assert.equal(line.msg, 'retrying reply');
      assert.equal(line.trace_id, answer.headers.get('x-request-id'));
      assert.equal(await service.end(), 0);
    });

    it('fails after the last attempt: the log names the request, and contains no part of the prompt', async () => {
      const store = await SharedStore.prepare({ SKEIN_REPLY_ATTEMPTS: '2' });
      const service = await store.start();
      const api = store.as('ada', service);
      const answer = await api.create({
        prompt: 'confidential\n#say classified\n#step restricted\n#retry 99',
      });
      const done = await api.untilDone(answer.body.thread.id);
      assert.deepEqual([done.messages[1].status, done.messages[1].content], ['failed', neutralSentence]);
      const lines = await eventually(
        () => linesAbout(service, answer.body.responseMessageId),
        (found) => found.length >= 2,
      );
      assert.deepEqual(
        lines.map(({ msg, level, trace_id, thread }) => [msg, level, trace_id, thread]),
        [
          ['retrying reply', 30, answer.headers.get('x-request-id'), answer.body.thread.id],
          ['reply failed', 40, answer.headers.get('x-request-id'), answer.body.thread.id],
        ],
      );
      assert.doesNotMatch(service.output.join('\n'), /confidential|classified|restricted/);
      assert.equal(await service.end(), 0);
    });
  });

  describe('A reply that has ended', () => {
    it('never changes again, whatever happens to its thread and the service', {
      timeout: 60_000,
    }, async () => {
      const store = await SharedStore.prepare({
        SKEIN_REPLY_DEADLINE_MS: String(deadlineMs),
        SKEIN_REPLY_LEASE_MS: '300',
      });
      let service = await store.start();
      let api = store.as('ada', service);
      const asked = await Promise.all(
        [['#say Completed.'], ['#say Never seen.', '#fail'], ['#say Half', '#hang'], ['#retry 99']].map(
          async (script) => ({ threadId: await ask(api, ...script) }),
        ),
      );
      const seen = new Observations();
      await seen.untilAllEnded(api, asked);
      assert.deepEqual(seen.statuses().toSorted(), ['completed', 'failed']);
      for (const { threadId } of asked) assert.equal((await api.rename(threadId, 'Renamed')).status, 200);
      await service.skein('thread', 'publish', store.made.acme, asked[0]!.threadId);
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        await service.end(signal);
        service = await store.start();
        api = store.as('ada', service);
        await seen.lookAt(api, asked);
        // A reply after them has been claimed, written and settled.
        await api.untilDone(await ask(api, '#say Later.'));
        await seen.lookAt(api, asked);
      }
      assert.equal(await service.end(), 0);
    });
  });
});
