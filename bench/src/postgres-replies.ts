import type { PostgresServer } from './postgres-server.ts';
import { createOrganization, startNode } from './postgres-store.ts';
import { call, inParallel, median } from './replies.ts';
import type { Service } from './service.ts';
import { ms, rate, say } from './table.ts';

const repliesAlone = 200;
const repliesTogether = 3_000;
const atOnce = 64;

/**
 * Measures two nodes that both write replies. Each thread is created on one node and awaited on the other, so about
 * half of the replies end on a different node than the one that waits.
 */
export async function measurePostgresReplies(server: PostgresServer): Promise<void> {
  const url = await server.database();
  const { key } = await createOrganization(url, 'Bench');
  const nodes = (await Promise.all([1, 2].map(() => startNode(url, 'scripted')))) as [Service, Service];
  const tookMs: number[] = [];
  let asked = 0;
  const askOne = async () => {
    const [here, there] = asked % 2 === 0 ? nodes : [nodes[1], nodes[0]];
    asked += 1;
    const began = performance.now();
    const { thread } = await call(here, key, 'POST', '/threads', { prompt: 'How long can I return yarn?' });
    const prefer = { prefer: 'wait=20' };
    const { status } = await call(there, key, 'GET', `/threads/${thread.id}`, undefined, prefer);
    if (status.state !== 'idle') throw new Error(`A reply ended as ${status.state}.`);
    tookMs.push(performance.now() - began);
  };
  await inParallel(500, atOnce, askOne);
  tookMs.length = 0;
  for (let alone = 0; alone < repliesAlone; alone += 1) await askOne();
  const aloneMs = median(tookMs);
  const began = performance.now();
  const cpuBefore = server.cpuSeconds();
  await inParallel(repliesTogether, atOnce, askOne);
  const seconds = (performance.now() - began) / 1000;
  const cpuMs = ((server.cpuSeconds() - cpuBefore) / repliesTogether) * 1000;
  for (const node of nodes) await node.stop();
  say(
    `Replies by the scripted model over two nodes, each awaited at the node that did not make its thread: ` +
      `${ms(aloneMs)} ms from the create to the whole reply, one after another; ` +
      `${rate(repliesTogether / seconds)} replies a second, ${atOnce} at once, ` +
      `with ${ms(cpuMs)} ms of PostgreSQL's CPU for each (create, reply and get).`,
  );
}
