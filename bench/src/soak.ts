import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Plan } from './plan.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { call, prepareDemo } from './replies.ts';
import { type Service, startService } from './service.ts';
import { printTable, rate, say } from './table.ts';

const callers = 32;
const requestsPerSecond = 500;
const settleMs = 5_000;

interface Sample {
  readonly seconds: number;
  /** Bytes by name: the values of `process.memoryUsage()` and the parts of the RSS. */
  readonly bytes: Readonly<Record<string, number>>;
}

/** Measures how the memory of one service develops under a steady mix of all five operations, with replies. */
export async function measureSoak({ soakMinutes }: Plan): Promise<void> {
  const folder = temporaryFolder();
  const memoryFile = join(folder, 'memory.log');
  const reporter = pathToFileURL(join(import.meta.dirname, 'report-memory.ts'));
  const service = await startService(folder, {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${reporter}`,
    SKEIN_BENCH_MEMORY_FILE: memoryFile,
  });
  const key = await prepareDemo(folder);
  const samples: Sample[] = [];
  const began = performance.now();
  const sampling = setInterval(() => {
    const bytes = { ...lastReport(memoryFile, service), ...residentParts(service) };
    samples.push({ seconds: (performance.now() - began) / 1000, bytes });
  }, 1000);
  await pause(settleMs);
  const calls = await runMix(service, key, soakMinutes * 60_000);
  clearInterval(sampling);
  await service.stop();
  removeFolder(folder);
  say(
    `${rate(calls)} requests in ${soakMinutes} minutes (${rate(calls / soakMinutes / 60)} a second): half gets, a fifth ` +
      'lists, the rest creates with their replies, renames and deletes.',
  );
  printSamples(samples);
}

/** Each caller sends a request at a fixed interval. A late caller continues at once and does not catch up. */
async function runMix(service: Service, key: string, forMs: number): Promise<number> {
  const everyMs = (callers / requestsPerSecond) * 1000;
  const end = performance.now() + forMs;
  let calls = 0;
  const runCaller = async (number: number) => {
    // Each caller has its own threads, so that none requests a thread that another has just deleted.
    const ids: string[] = [];
    await pause((everyMs / callers) * number);
    for (let next = performance.now(); next < end; next = Math.max(next + everyMs, performance.now())) {
      await pause(Math.max(0, next - performance.now()));
      await callOnce(service, key, ids, calls);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, number) => runCaller(number)));
  return calls;
}

async function callOnce(service: Service, key: string, ids: string[], number: number): Promise<void> {
  const turn = ids.length === 0 ? 0 : Math.floor(Math.random() * 20);
  const index = Math.floor(Math.random() * ids.length);
  const path = `/threads/${ids[index]}`;
  const account = `accountId=account-${number % 50}`;
  if (turn < 3) {
    ids.push(await createThread(service, key, number, turn === 0));
  } else if (turn < 5) {
    await call(service, key, 'PATCH', path, { title: `Customer ${number} returns yarn` });
  } else if (turn === 5) {
    await call(service, key, 'DELETE', path);
    ids.splice(index, 1);
  } else if (turn < 10) {
    await call(service, key, 'GET', turn === 9 ? `/threads?${account}` : '/threads');
  } else {
    await call(service, key, 'GET', path);
  }
}

/** The default model writes the reply from the demo's documents. Some callers wait until it ends. */
async function createThread(service: Service, key: string, number: number, waits: boolean): Promise<string> {
  const { thread } = await call(service, key, 'POST', '/threads', {
    prompt: `How long can customer ${number} return yarn?`,
    ...(number % 5 > 2 && { accountId: `account-${number % 50}` }),
  });
  if (waits) await call(service, key, 'GET', `/threads/${thread.id}`, undefined, { prefer: 'wait=20' });
  return thread.id;
}

function lastReport(file: string, { pid }: Service): Record<string, number> {
  const own = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .findLast((line) => line.startsWith(`${pid} `));
  return JSON.parse(own!.slice(String(pid).length));
}

/** Anonymous pages belong to the process alone. File pages are programs and mapped files. */
function residentParts({ pid }: Service): Record<string, number> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { rss: bytes('VmRSS'), anonymous: bytes('RssAnon'), files: bytes('RssFile') };
}

const figures = ['rss', 'anonymous', 'files', 'heapTotal', 'heapUsed', 'external', 'arrayBuffers'];

function printSamples(samples: readonly Sample[]): void {
  const mebibytes = (bytes: number) => rate(bytes / 1024 / 1024);
  const lastHalf = samples.slice(Math.floor(samples.length / 2));
  printTable(
    'Memory of the service, sampled once a second',
    ['MiB', 'idle', 'peak', 'end', 'last half, MiB a minute'],
    figures.map((name) => {
      const all = samples.map(({ bytes }) => bytes[name]!);
      return [
        name,
        mebibytes(all[0]!),
        mebibytes(Math.max(...all)),
        mebibytes(all.at(-1)!),
        ((slopePerSecond(lastHalf, name) * 60) / 1024 / 1024).toFixed(1),
      ];
    }),
  );
}

/** The slope of the least-squares line through the samples. */
function slopePerSecond(samples: readonly Sample[], name: string): number {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const meanSeconds = mean(({ seconds }) => seconds);
  const meanBytes = mean(({ bytes }) => bytes[name]!);
  return (
    mean(({ seconds, bytes }) => (seconds - meanSeconds) * (bytes[name]! - meanBytes)) /
    mean(({ seconds }) => (seconds - meanSeconds) ** 2)
  );
}
