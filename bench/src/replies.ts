import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { Plan } from './plan.ts';
import { end, removeFolder, root, start, temporaryFolder } from './processes.ts';
import { type Environment, type Service, skein, startService } from './service.ts';
import { micros, ms, printTable, rate } from './table.ts';

const quota = '1000000000';
const createsAtOnce = 64;
const kilobyte = 'All work and no play makes a long reply that says nothing, word after word. '.repeat(13);

interface Contender {
  readonly name: string;
  readonly environment: Environment;
  readonly prompt: string;
}

/** Measures what thousands of replies in progress cost in memory, and how they slow down other requests. */
export async function measureReplies({ replies }: Plan): Promise<void> {
  const provider = await startProvider();
  const slots = { SKEIN_REPLY_CONCURRENCY: String(replies * 2) };
  const rows: string[][] = [];
  for (const contender of [
    {
      name: 'scripted, a step and 1 kB of text',
      environment: { ...slots, SKEIN_MODEL: 'scripted' },
      prompt: `#step Reading\n#say ${kilobyte}\n#hang`,
    },
    {
      name: 'language model, waiting for its provider',
      environment: {
        ...slots,
        SKEIN_MODEL: 'openai-compatible/stand-in',
        SKEIN_MODEL_BASE_URL: provider.url,
        SKEIN_MODEL_SILENCE_MS: '600000',
      },
      prompt: '!hang',
    },
  ]) {
    rows.push(await measureHeld(contender, replies));
  }
  await provider.stop();
  printTable(
    'Replies in progress in one process',
    ['model', 'replies', 'MiB before', 'MiB with them', 'kB a reply', 'get p50 ms before', 'with them'],
    rows,
  );
}

async function measureHeld({ name, environment, prompt }: Contender, count: number): Promise<string[]> {
  const { folder, service, key } = await startFresh(environment);
  // Exclude one-time costs of the first replies.
  await createMany(service, key, 100, prompt);
  await pause(3000);
  const idleMs = await medianGetMs(service, key);
  const before = residentBytes(service);
  await createMany(service, key, count, prompt);
  await untilHeld(service, key);
  const held = residentBytes(service);
  const busyMs = await medianGetMs(service, key);
  await service.stop();
  removeFolder(folder);
  const mebibytes = (bytes: number) => rate(bytes / 1024 / 1024);
  const perReply = (held - before) / count / 1024;
  return [name, rate(count), mebibytes(before), mebibytes(held), micros(perReply), ms(idleMs), ms(busyMs)];
}

/**
 * Waits until the reply that was created last has started, which means that all earlier ones have. Then waits for
 * periodic writes.
 */
async function untilHeld(service: Service, key: string): Promise<void> {
  const { threads } = await call(service, key, 'GET', '/threads?limit=1');
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 500) {
    const { status } = await call(service, key, 'GET', `/threads/${threads[0].id}`);
    if (status.stepCount > 0 || waitedMs >= 10_000) return;
    await pause(500);
  }
}

/** Creates a key for the demo organization of a service that started on an empty store. */
export async function prepareDemo(folder: string): Promise<string> {
  const organization = (await skein(folder, 'org', 'list'))[0].id;
  await skein(folder, 'org', 'set', organization, '--quota', quota);
  return (await skein(folder, 'key', 'create', organization, '--user', 'admin@demo.example')).key;
}

export async function startFresh(environment: Environment) {
  const folder = temporaryFolder();
  const { id } = await skein(folder, 'org', 'create', 'Bench', '--quota', quota);
  await skein(folder, 'member', 'add', id, 'ada@bench.example');
  const { key } = await skein(folder, 'key', 'create', id, '--user', 'ada@bench.example');
  return { folder, service: await startService(folder, environment), key: key as string };
}

function createMany(service: Service, key: string, count: number, prompt: string): Promise<void> {
  return inParallel(count, createsAtOnce, () => call(service, key, 'POST', '/threads', { prompt }));
}

export async function medianGetMs(service: Service, key: string): Promise<number> {
  const { threads } = await call(service, key, 'GET', '/threads?limit=1');
  const tookMs: number[] = [];
  for (let round = 0; round < 300; round += 1) {
    const began = performance.now();
    await call(service, key, 'GET', `/threads/${threads[0].id}`);
    tookMs.push(performance.now() - began);
  }
  return median(tookMs);
}

export async function call(
  { baseUrl }: Pick<Service, 'baseUrl'>,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<any> {
  const response = await fetch(`${baseUrl}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}.`);
  return response.json();
}

export async function inParallel(count: number, atOnce: number, work: () => Promise<unknown>): Promise<void> {
  let left = count;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

export function residentBytes({ pid }: Service): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

export function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Starts the tests' stand-in for a model provider in a separate process. */
async function startProvider(): Promise<{ url: string; stop(): Promise<void> }> {
  const file = join(root, 'answers/testing/provider-stand-in.ts');
  const child = start(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout! }))
    return { url: line.trim(), stop: () => end(child) };
  throw new Error('The stand-in printed no URL.');
}
