import { type ChildProcess, execFile } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { end, root, start } from './processes.ts';

export type Environment = Record<string, string>;

export interface Service {
  readonly baseUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const launcher = join(root, 'node_modules/.bin/skein');
const readyWithinMs = 60_000;

/**
 * Runs `skein serve` with its defaults in `folder`. The log goes to a file, because reading a pipe would take processor
 * time that does not belong to the service.
 */
export async function startService(
  folder: string,
  environment: Environment = {},
  words: readonly string[] = [],
): Promise<Service> {
  const logFile = join(folder, 'serve.log');
  const log = openSync(logFile, 'w');
  const child = start(launcher, ['serve', ...words], {
    cwd: folder,
    env: cleanEnvironment({ SKEIN_PORT: '0', ...environment }),
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  return {
    baseUrl: await untilReady(child, logFile),
    pid: child.pid as number,
    stop: () => end(child),
  };
}

/** Runs the `skein` command on the store in `folder` and returns its JSON. */
export function skein(folder: string, ...words: string[]): Promise<any> {
  return skeinWith({}, folder, ...words);
}

export async function skeinWith(environment: Environment, folder: string, ...words: string[]): Promise<any> {
  const { stdout } = await promisify(execFile)(launcher, [...words, '--json'], {
    cwd: folder,
    env: cleanEnvironment(environment),
  });
  return JSON.parse(stdout);
}

async function untilReady(child: ChildProcess, logFile: string): Promise<string> {
  for (let waitedMs = 0; waitedMs < readyWithinMs; waitedMs += 20) {
    const printed = readFileSync(logFile, 'utf8');
    const ready = printed.split('\n').find((line) => line.includes('"msg":"ready"'));
    if (ready !== undefined) return JSON.parse(ready).address;
    if (child.exitCode !== null) throw new Error(`skein serve ended with ${child.exitCode}:\n${printed}`);
    await pause(20);
  }
  throw new Error(`skein serve was not ready within ${readyWithinMs} ms.`);
}

/** Drops the machine's own settings, so that only the benchmark's apply. */
function cleanEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SKEIN_'));
  return { ...Object.fromEntries(inherited), ...environment };
}
