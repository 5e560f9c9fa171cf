import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { sendMany } from '../../harness/http/load.ts';
import { HeldModel } from '../../harness/replies/held-model.ts';
import { HeldRequests } from '../../harness/replies/held-requests.ts';
import { killAllProcesses, SharedStore } from '../../harness/replies/shared-store.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { clockThatLeaps } from '../../harness/service/shifted-clock.ts';
import { exchange, makeApplication } from '../../harness/world/applications.ts';
import { createThread } from '../../harness/world/world.ts';

const crowd = 1500;
const repliesAtOnce = 300;
/** Responses are sent one after the other. A caller that misses the end of the reply waits for 25 s. */
const lateMsMax = 15_000;

describe('Waiting for replies', () => {
  const model = new HeldModel();
  after(async () => {
    await killAllProcesses();
    await model.stop();
  });

  const start = async (environment: Record<string, string> = {}) => {
    const store = await SharedStore.prepare(environment);
    const service = await store.start();
    await store.allowMany(service);
    const api = store.as('ada', service);
    return { service, api, held: new HeldRequests(service, store.made.adaKey.key) };
  };

  it('responds to 3,000 waiting requests, half of them for one reply, soon after it ends, and to other requests meanwhile', {
    timeout: 240_000,
  }, async (t) => {
    const { service, api, held } = await start({ ...(await model.start()), SKEIN_REPLY_CONCURRENCY: '2000' });
    const ids = await sendMany(repliesAtOnce, 16, async () => {
      return (await createThread(api)).thread.id as string;
    });
    // Each reply searches the documents before it asks the model, in one of few threads.
    await eventually(
      () => model.asked,
      (asked) => asked === repliesAtOnce,
      120_000,
    );
    const untilAdmitted = await admissionsFromNow(api);
    const answers = Promise.all(
      Array.from({ length: 2 * crowd }, (_, place) =>
        held.hold(place < crowd ? ids[0]! : ids[place % repliesAtOnce]!, 25),
      ),
    );
    await untilAdmitted(2 * crowd);
    assert.equal(held.waiting, 2 * crowd, 'all wait at once');
    model.answer('Done.');
    const slowestMs = await slowestListWhile(api, () => held.waiting > 0);
    for (const { status, body, answeredAtMs } of await answers) {
      const { content, completedAt } = body.messages[1];
      assert.deepEqual([status, body.status.state, content], [200, 'idle', 'Done.']);
      const lateMs = answeredAtMs - Date.parse(completedAt);
      assert.ok(lateMs < lateMsMax, `answered ${lateMs} ms after the end`);
    }
    assert.ok(slowestMs < lateMsMax, `another request took ${slowestMs} ms`);
    t.diagnostic(`the slowest other request took ${Math.round(slowestMs)} ms`);
    assert.equal(await service.end(), 0);
  });

  describe('when something else happens', { concurrency: true }, () => {
    it('ends at once when the service stops: every caller gets a response, and it exits with 0', {
      timeout: 60_000,
    }, async () => {
      const { service, api, held } = await start();
      const { thread } = await createThread(api, { prompt: '#say So far.\n#hang' });
      await api.until(thread.id, ({ messages }) => messages[1].content !== '');
      const connections = 500;
      const untilAdmitted = await admissionsFromNow(api);
      const answers = Promise.all(Array.from({ length: connections }, () => held.hold(thread.id, 25)));
      await untilAdmitted(connections);
      const began = Date.now();
      assert.equal(await service.end(), 0);
      assert.ok(Date.now() - began < lateMsMax, `stopping took ${Date.now() - began} ms`);
      for (const { status, body } of await answers) {
        assert.deepEqual([status, body.status.state], [200, 'in_progress']);
      }
    });

    it('leaves nothing behind when callers disconnect', { timeout: 60_000 }, async () => {
      const { service, api, held } = await start();
      const { thread } = await createThread(api, { prompt: '#hang' });
      const before = openFiles(service);
      for (let round = 0; round < 4; round += 1) {
        const untilAdmitted = await admissionsFromNow(api);
        const abandoned = Array.from({ length: 500 }, () => held.hold(thread.id, 25));
        await untilAdmitted(500);
        held.abandon();
        const outcomes = await Promise.allSettled(abandoned);
        assert.ok(outcomes.every(({ status }) => status === 'rejected'));
      }
      await eventually(
        () => openFiles(service),
        (count) => count <= before + 10,
      );
      assert.equal((await api.delete(thread.id)).status, 200);
      assert.deepEqual(
        service.output.filter((line) => line.includes('"level":50')),
        [],
      );
      const began = Date.now();
      assert.equal(await service.end(), 0);
      assert.ok(Date.now() - began < lateMsMax, `stopping took ${Date.now() - began} ms`);
    });

    it('still answers a caller whose access token has expired in the meantime', {
      timeout: 60_000,
    }, async () => {
      const store = await SharedStore.prepare({ ...clockThatLeaps(7_200_000) });
      const service = await store.start();
      const api = store.as('ada', service);
      const token = await exchange(service.baseUrl, await makeApplication(service, store.made.acme));
      const { thread } = await createThread(api, { prompt: '#say So far.\n#hang' });
      await api.until(thread.id, ({ messages }) => messages[1].content !== '');
      await service.skein('thread', 'publish', store.made.acme, thread.id);
      const untilAdmitted = await admissionsFromNow(api);
      const held = new HeldRequests(service, token);
      const answer = held.hold(thread.id, 25);
      await untilAdmitted(1);
      service.signal('SIGUSR2');
      await eventually(
        () => new Api(service.baseUrl, token).get(thread.id),
        ({ status }) => status === 401,
      );
      assert.equal(held.waiting, 1, 'it still waits');
      assert.equal(await service.end(), 0);
      const { status, body } = await answer;
      assert.deepEqual([status, body.status.state], [200, 'in_progress']);
    });

    it('detects the end of a reply in another process', { timeout: 60_000 }, async () => {
      const store = await SharedStore.prepare();
      const [door, worker] = await Promise.all([store.start('api'), store.start('worker')]);
      const api = store.as('ada', door);
      const held = new HeldRequests(door, store.made.adaKey.key);
      const { thread } = await createThread(api, { prompt: '#wait 800\n#say Elsewhere.' });
      const { body, answeredAtMs } = await held.hold(thread.id, 25);
      assert.equal(body.messages[1].content, 'Elsewhere.');
      const lateMs = answeredAtMs - Date.parse(body.messages[1].completedAt);
      assert.ok(lateMs < lateMsMax, `answered ${lateMs} ms after the end`);
      for (const process of [worker, door]) assert.equal(await process.end(), 0);
    });
  });
});

type ApiOf = ReturnType<SharedStore['as']>;

/** Lists repeatedly and returns the longest time. */
async function slowestListWhile(api: ApiOf, lasts: () => boolean): Promise<number> {
  let slowestMs = 0;
  while (lasts()) {
    const began = performance.now();
    assert.equal((await api.list({ limit: 1 })).status, 200);
    slowestMs = Math.max(slowestMs, performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return slowestMs;
}

/** Resolves when the service has received this many more requests. */
async function admissionsFromNow(api: ApiOf): Promise<(count: number) => Promise<unknown>> {
  let looks = 0;
  const remaining = async () => {
    const { headers } = await api.list({ limit: 1 });
    return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]) + looks++;
  };
  const first = await remaining();
  return (count) =>
    eventually(
      async () => first - (await remaining()),
      (admitted) => admitted >= count,
    );
}

/** The number of open files, including sockets; 0 on systems that do not report it. */
function openFiles({ pid }: Service): number {
  const folder = `/proc/${pid}/fd`;
  return existsSync(folder) ? readdirSync(folder).length : 0;
}
