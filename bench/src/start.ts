import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Plan } from './plan.ts';
import { removeFolder, root, temporaryFolder } from './processes.ts';
import { median } from './rounds.ts';
import { skein, startService } from './service.ts';
import { micros, printTable } from './table.ts';

const settleMs = 2_000;

/** The packages that are loaded on first use, and when. */
const loadedOnUse = [
  ['@ai-sdk/openai-compatible', 'the first reply of a language model'],
  ['unpdf', 'the first PDF, in another process'],
  ['openid-client', 'the first sign-in through a provider'],
  ['@fastify/swagger', '/openapi.json'],
  ['@fastify/send', 'the first page of the console'],
  ['@node-rs/argon2', 'the first password'],
  ['jose', "an application's first token"],
  ['pg', 'a PostgreSQL store'],
  ['prom-client', 'SKEIN_METRICS_PORT'],
  ['@opentelemetry/exporter-trace-otlp-http', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  ['@modelcontextprotocol/server', 'skein mcp'],
] as const;

/** Measures the start time and memory of the service, of a command, and of packages that are loaded later. */
export async function measureStart({ settings }: Plan): Promise<void> {
  const folder = temporaryFolder();
  // The first start creates the store and the demo, and writes the compile cache.
  await (await startService(folder)).stop();
  const starts: number[][] = [];
  const commands: number[] = [];
  for (let round = 0; round < settings.rounds; round += 1) {
    const began = performance.now();
    const service = await startService(folder);
    const readyMs = performance.now() - began;
    const cpuMs = cpuMilliseconds(service.pid);
    await pause(settleMs);
    const [rss, anonymous] = [memory(service.pid, 'VmRSS'), memory(service.pid, 'RssAnon')];
    await service.stop();
    starts.push([readyMs, cpuMs, rss, anonymous]);
    const commandBegan = performance.now();
    await skein(folder, 'org', 'list');
    commands.push(performance.now() - commandBegan);
  }
  const middle = (index: number) => micros(median(starts.map((figures) => figures[index]!)));
  printTable(
    `Start, the median of ${settings.rounds}`,
    ['', 'ready ms', 'CPU ms', 'idle MiB', 'anonymous MiB'],
    [
      ['skein serve', middle(0), middle(1), middle(2), middle(3)],
      ['skein org list', micros(median(commands)), '', '', ''],
    ],
  );
  const rows = [];
  for (const [name, use] of loadedOnUse)
    rows.push([name, ...(await measureImport(name, settings.rounds)), use]);
  printTable('Loaded on first use', ['package', 'CPU ms', 'MiB', 'loaded with'], rows);
  removeFolder(folder);
}

/** The processor time of all threads so far. */
export function cpuMilliseconds(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = tasks.map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

function memory(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}

const importing = `
const before = [process.cpuUsage(), process.memoryUsage().rss];
await import(process.argv[1]);
const { user, system } = process.cpuUsage(before[0]);
console.log(JSON.stringify([(user + system) / 1000, (process.memoryUsage().rss - before[1]) / 2 ** 20]));`;

/** Imports a package in a new process, with a compile cache as the service has one. */
async function measureImport(name: string, rounds: number): Promise<string[]> {
  const figures: [number, number][] = [];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/skein') };
  for (let round = 0; round <= rounds; round += 1) {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', importing, name],
      { cwd: join(root, 'server'), env },
    );
    if (round > 0) figures.push(JSON.parse(stdout));
  }
  return [0, 1].map((index) => micros(median(figures.map((pair) => pair[index]!))));
}
