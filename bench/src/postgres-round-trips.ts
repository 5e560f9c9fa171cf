import { setTimeout as pause } from 'node:timers/promises';
import { type CountingProxy, type SentStatement, startCountingProxy } from './counting-proxy.ts';
import type { PostgresServer } from './postgres-server.ts';
import { createOrganization, startNode } from './postgres-store.ts';
import { call } from './replies.ts';
import type { Service } from './service.ts';
import { printTable } from './table.ts';

const holdMs = 25;
const timesEach = 10;
/** Longer than a node batches its notices to other nodes. */
const settleMs = 150;

interface Counted {
  readonly statements: string[];
  readonly roundTrips: number;
}

/** Counts the statements that a request sends to PostgreSQL, and how often it waits for a response. */
export async function countRoundTrips(server: PostgresServer): Promise<void> {
  const url = await server.database();
  const { key } = await createOrganization(url, 'Bench');
  const proxy = await startCountingProxy(url, holdMs);
  const node = await startNode(proxy.url, 'scripted', '--role', 'api');
  const rows: string[][] = [];
  const background = await namesWhileIdle(proxy);
  for (const [name, request] of Object.entries(await requests(node, key))) {
    // The first request opens connections and prepares statements.
    await request();
    const counted: Counted[] = [];
    for (let time = 0; time < timesEach; time += 1) {
      await pause(settleMs);
      proxy.take();
      await request();
      counted.push(count(proxy.take().filter(({ statement }) => !background.has(statement))));
    }
    rows.push(describe(name, counted));
  }
  await node.stop();
  proxy.close();
  printTable('Round trips to PostgreSQL', ['request', 'statements', 'round trips', 'which'], rows);
}

/** Statements that a node sends without any request. */
async function namesWhileIdle(proxy: CountingProxy): Promise<Set<string>> {
  await pause(1_000);
  proxy.take();
  await pause(3_000);
  return new Set(proxy.take().map(({ statement }) => statement));
}

/** The longest sequence of statements that waited for one another. Statements that overlapped another one added no time. */
function count(sent: readonly SentStatement[]): Counted {
  let roundTrips = 0;
  let endMs = -Infinity;
  for (const { sentMs, answeredMs } of [...sent].sort((a, b) => a.answeredMs - b.answeredMs)) {
    if (sentMs < endMs) continue;
    roundTrips += 1;
    endMs = answeredMs;
  }
  return { statements: sent.map(({ statement }) => statement), roundTrips };
}

function describe(name: string, counted: readonly Counted[]): string[] {
  const first = counted[0]!;
  const range = (values: readonly number[]) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return least === most ? String(most) : `${least}–${most}`;
  };
  return [
    name,
    range(counted.map(({ statements }) => statements.length)),
    range(counted.map(({ roundTrips }) => roundTrips)),
    first.statements.join(', '),
  ];
}

async function requests(node: Service, key: string): Promise<Record<string, () => Promise<unknown>>> {
  const ids: string[] = [];
  const create = async () => {
    const { thread } = await call(node, key, 'POST', '/threads', { prompt: 'How long can I return yarn?' });
    ids.push(thread.id);
  };
  for (let made = 0; made < 30; made += 1) await create();
  const { nextCursor } = await call(node, key, 'GET', '/threads?limit=25');
  const cursor = encodeURIComponent(nextCursor);
  return {
    get: () => call(node, key, 'GET', `/threads/${ids[0]}`),
    'list, first page': () => call(node, key, 'GET', '/threads?limit=25'),
    'list, later page': () => call(node, key, 'GET', `/threads?limit=25&cursor=${cursor}`),
    create,
    rename: () => call(node, key, 'PATCH', `/threads/${ids[0]}`, { title: 'Yarn' }),
    delete: () => call(node, key, 'DELETE', `/threads/${ids.pop()}`),
  };
}
