import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Api } from '../../harness/http/api.ts';
import { sendMany } from '../../harness/http/load.ts';
import { Nodes } from '../../harness/nodes/nodes.ts';
import { listCrashes } from '../../harness/replies/crashes.ts';
import { type Asked, askForPieces, Observations } from '../../harness/replies/observations.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { hire, makeOrganization } from '../../harness/world/tenants.ts';
import { createThread } from '../../harness/world/world.ts';

/** `SKEIN_TEST_KILLS=20` kills the service twenty times, with ten times as many replies in progress. */
const kills = Number(process.env.SKEIN_TEST_KILLS ?? 4);
const asked = 10 * kills;
const killEveryMs = 1000;
/** A process that is ready lives at least this long, however long its start took, so that it takes up replies. */
const readyMs = 600;
/** Longer than a process lives, so that no reply can end between two kills. */
const pauseMs = 400;
const pieces = 4;
const bystanders = 50;
const newcomers = 5;

const setups = [
  { engine: 'SQLite', nodes: 1, url: 'sqlite:./data/skein.db' },
  { engine: 'PostgreSQL', nodes: 2, url: undefined },
];

for (const { engine, nodes: count, url } of setups) {
  describe(`Replies whose processes die, on ${count} ${count === 1 ? 'node' : 'nodes'} with ${engine}`, () => {
    const prepared: Nodes[] = [];
    after(() => Promise.all(prepared.map((nodes) => nodes.end())));

    async function prepare(environment: Record<string, string>) {
      const nodes = await Nodes.prepare({ SKEIN_REPLY_LEASE_MS: '600', ...environment }, url);
      prepared.push(nodes);
      const globex = await makeOrganization(nodes, 'Globex');
      const { key } = await hire(nodes, globex, 'eve@globex.example');
      for (const organization of [nodes.organization, globex])
        await nodes.skein('org', 'set', organization, '--quota', '10000000');
      // Answers requests, and writes no replies.
      const door = await nodes.start('api');
      return { nodes, door, ada: nodes.ada(door), eve: new Api(door.baseUrl, key) };
    }

    it(`completes ${asked} replies of a service that was killed ${kills} times, with one attempt each`, {
      timeout: 900_000,
    }, async (t) => {
      const { nodes, door, ada, eve } = await prepare({ SKEIN_REPLY_ATTEMPTS: '1' });
      const startAll = () => Promise.all(Array.from({ length: count }, () => nodes.start()));
      const started = [door];
      let running = await startAll();
      const replies = await sendMany(asked, 16, (place) => {
        const texts = Array.from({ length: pieces }, (_, piece) => `[${place}-${piece}]`);
        return askForPieces(place % 2 === 0 ? ada : eve, texts, pauseMs);
      });
      const own = replies.filter((_, place) => place % 2 === 0);
      for (let kill = 0; kill < kills; kill += 1) {
        const next = pause(killEveryMs);
        started.push(...running);
        await Promise.all(running.map((node) => node.end('SIGKILL')));
        running = await startAll();
        await Promise.all([next, pause(readyMs)]);
      }
      const killedMs = Date.now();
      const seen = new Observations();
      const others = replies.filter((_, place) => place % 2 === 1);
      const untilMs = 600_000;
      await Promise.all([
        seen.lookUntil(() => isOver(seen, own), ada, own, untilMs),
        seen.lookUntil(() => isOver(seen, others), eve, others, untilMs),
      ]);
      assert.deepEqual(seen.statuses(), ['completed']);
      assert.equal(seen.ended.size, asked);
      const crashes = [...started, ...running]
        .flatMap(listCrashes)
        .reduce((sum, replies) => sum + replies, 0);
      assert.ok(crashes > asked, `${crashes} crashes of ${asked} replies`);
      t.diagnostic(`${crashes} crashes; all ended ${Date.now() - killedMs} ms after the last start`);
    });

    it('fail alone if they kill every process that writes them, and keep no other reply waiting', {
      timeout: 900_000,
    }, async (t) => {
      const { nodes, ada, eve } = await prepare({});
      let crashes = 0;
      let isOver = false;
      const supervise = async () => {
        while (!isOver) {
          const service = await nodes.start('worker').catch(() => undefined);
          // A reply may kill it before it is ready.
          const ended = await service?.exit();
          if (!isOver) crashes += 1;
          assert.ok(ended === undefined || ended === 'SIGKILL', `ended with ${ended}`);
        }
      };
      const others = await sendMany(bystanders, 16, (place) =>
        askForPieces(eve, [`[${place}`, ']'], pauseMs),
      );
      const { thread } = await createThread(ada, { prompt: '#step Reading\n#say Poison\n#crash' });
      const supervised = Array.from({ length: count }, supervise);
      await eventually(
        () => nodes.skein('doctor'),
        ({ findings }) => /of them suspects/.test(findDetail(findings)),
      );
      // The organization of the poison is served, too.
      for (let place = 0; place < newcomers; place += 1) {
        const { thread: fresh } = await createThread(place % 2 === 0 ? ada : eve, { prompt: '#say Now.' });
        assert.equal((await (place % 2 === 0 ? ada : eve).untilDone(fresh.id)).messages[1].content, 'Now.');
      }
      const seen = new Observations();
      await seen.lookAt(eve, others);
      assert.ok(seen.ended.size < bystanders, 'suspects still wait when all new replies have ended');
      const endedBefore = seen.ended.size;
      await seen.lookUntil(() => seen.ended.size === bystanders, eve, others, 300_000);
      assert.deepEqual(seen.statuses(), ['completed']);
      const poisoned = await ada.untilDone(thread.id);
      assert.equal(poisoned.messages[1].status, 'failed');
      t.diagnostic(
        `${crashes} crashes, ${endedBefore} of ${bystanders} others had ended before the newcomers`,
      );
      const events = await nodes.skein('audit', nodes.organization);
      const reasons = events
        .filter(({ action }: { action: string }) => action === 'reply.failed')
        .map(({ detail }: { detail: { reason: string } }) => detail.reason);
      assert.deepEqual(reasons, ['The process that wrote the reply ended unexpectedly (SIGKILL).']);
      // Each node can die only once or twice with it before it is suspected.
      assert.ok(crashes <= 2 * count, `${crashes} processes died`);
      isOver = true;
      await nodes.end();
      await Promise.all(supervised);
    });
  });
}

function isOver(seen: Observations, replies: readonly Asked[]): boolean {
  return replies.every(({ threadId }) => seen.ended.has(threadId));
}

/** What doctor says about replies in progress. */
function findDetail(findings: readonly { check: string; detail: string }[]): string {
  return findings.find(({ check }) => check === 'replies')?.detail ?? '';
}
