import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { PostgresServer } from './postgres-server.ts';

export interface PointReads {
  readonly perSecond: number;
  readonly databaseCpuMicros: number;
}

/** Prepares pgbench in its own database: 100,000 rows, read one at a time by primary key. */
export async function preparePointReads(url: string): Promise<void> {
  await run(['--initialize', '--quiet', '--scale=1', url]);
}

export async function measurePointReads(
  server: PostgresServer,
  url: string,
  connections: number,
  seconds: number,
): Promise<PointReads> {
  const before = server.cpuSeconds();
  const wholeSeconds = Math.max(1, Math.round(seconds));
  const words = ['--select-only', '--protocol=prepared', '--no-vacuum', `--client=${connections}`];
  const printed = await run([...words, `--time=${wholeSeconds}`, url]);
  const figure = (pattern: RegExp) => Number(pattern.exec(printed)?.[1]);
  const reads = figure(/transactions actually processed: (\d+)/);
  return {
    perSecond: figure(/^tps = ([\d.]+)/m),
    databaseCpuMicros: ((server.cpuSeconds() - before) / reads) * 1e6,
  };
}

async function run(words: string[]): Promise<string> {
  return (await promisify(execFile)('pgbench', words)).stdout;
}
