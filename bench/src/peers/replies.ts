import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds, endLoad, load, type Target } from '../load.ts';
import type { SeededContender } from './contender.ts';

const finishedWithinMs = 30_000;
const pollMs = 100;
const settleMs = 3_000;

/**
 * Finished replies per second, from the first request to the last reply in the store, and the processor time of each. What
 * is not finished in time does not count.
 */
export async function measureReplies(
  seeded: SeededContender,
  service: Target,
  amount: number,
  connections: number,
): Promise<{ perSecond: number; cpuMicros: number }> {
  const before = await seeded.countFinished(service);
  const cpuBefore = cpuSeconds(service.pid);
  const beganMs = performance.now();
  let startedAtMs = beganMs;
  const sending = load(service, seeded.ask(amount, 0), { connections, seconds: 0, amount }).then(
    ({ requests, requestsPerSecond }) => {
      // The load waits for a quiet process before it starts.
      startedAtMs = performance.now() - (requests / requestsPerSecond) * 1000;
    },
    () => {},
  );
  let finished = 0;
  let lastAtMs = beganMs;
  let cpuMicros = Number.NaN;
  while (finished < amount && performance.now() - beganMs < finishedWithinMs) {
    await pause(pollMs);
    const count = (await seeded.countFinished(service)) - before;
    if (count === finished) continue;
    finished = count;
    lastAtMs = performance.now();
    cpuMicros = ((cpuSeconds(service.pid) - cpuBefore) / finished) * 1e6;
  }
  if (finished < amount) await endLoad();
  await sending;
  return { perSecond: finished / ((lastAtMs - startedAtMs) / 1000), cpuMicros };
}

/** Memory of the whole process some time after its start. */
export async function idleMebibytes({ pid }: Target): Promise<number> {
  await pause(settleMs);
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
