import { once } from 'node:events';
import { Agent, type ClientRequest, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Plan } from './plan.ts';
import { removeFolder } from './processes.ts';
import { call, medianGetMs, residentBytes, startFresh } from './replies.ts';
import type { Service } from './service.ts';
import { micros, ms, rate, say } from './table.ts';

const waitSeconds = 25;
const openedAtOnce = 100;

/**
 * Measures reads that are held by `Prefer: wait`, each on its own connection, for a reply that does not end: the memory
 * per held read, and how long other reads take at the same time.
 */
export async function measureWaitingReads({ replies }: Plan): Promise<void> {
  const count = replies / 2;
  const { folder, service, key } = await startFresh({ SKEIN_MODEL: 'scripted' });
  const { thread } = await call(service, key, 'POST', '/threads', { prompt: '#hang' });
  const idleMs = await medianGetMs(service, key);
  const before = residentBytes(service);
  const agent = new Agent({ keepAlive: true });
  const held: ClientRequest[] = [];
  let answered = 0;
  for (let opened = 0; opened < count; opened += openedAtOnce) {
    const some = Array.from({ length: openedAtOnce }, () =>
      openWaiting(service, key, `/threads/${thread.id}`, agent),
    );
    for (const one of some) one.on('response', () => (answered += 1));
    await Promise.all(some.map((one) => once(one, 'finish')));
    held.push(...some);
  }
  await pause(2_000);
  const bytesEach = (residentBytes(service) - before) / count;
  const busyMs = await medianGetMs(service, key);
  if (answered > 0) throw new Error(`${answered} waiting reads were answered before all were held.`);
  for (const one of held) one.destroy();
  agent.destroy();
  await service.stop();
  removeFolder(folder);
  say(
    `${rate(count)} waiting reads in one process: ${micros(bytesEach / 1024)} kB each, its connection included; ` +
      `get p50 ${ms(idleMs)} ms before, ${ms(busyMs)} ms with them.`,
  );
}

function openWaiting({ baseUrl }: Service, key: string, path: string, agent: Agent): ClientRequest {
  const headers = { authorization: `Bearer ${key}`, prefer: `wait=${waitSeconds}` };
  const opened = request(`${baseUrl}/api/v1${path}`, { agent, headers });
  // Reads that are still held are cut off at the end.
  opened.on('error', () => {});
  opened.end();
  return opened;
}
