import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { end, nextMessage, startPart } from './processes.ts';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** Who is measured: where it listens, and which process answers there. */
export interface Target {
  readonly baseUrl: string;
  readonly pid: number;
  /** Nodes beside this one: the connections are split among all. */
  readonly others?: readonly Target[];
  /** Processor time so far of the database behind it. */
  readonly databaseCpuSeconds?: () => number;
}

export interface LoadSettings {
  readonly connections: number;
  readonly seconds: number;
}

/** What the load process is told. */
export interface LoadOrder extends LoadSettings {
  readonly urls: readonly string[];
  readonly requests: readonly Request[];
}

/** What the load process saw. */
export interface LoadReport {
  readonly requests: number;
  readonly seconds: number;
  readonly failures: string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the answering processes, for one request; NaN where the system does not tell. */
  readonly cpuMicros: number;
  /** The same of the database behind them; NaN where there is none. */
  readonly databaseCpuMicros: number;
}

let loadProcess: ChildProcess | undefined;

/** On a machine that does much else, a burst may end before its first answer: a longer one is tried then. */
const triesMax = 5;

/** One burst of requests. Anything but success ends the benchmark: a figure for errors would be worth nothing. */
export async function load(
  target: Target,
  requests: readonly Request[],
  settings: LoadSettings,
): Promise<LoadResult> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const seconds = settings.seconds * 2 ** tries;
    const urls = nodesOf(target).map(({ baseUrl }) => baseUrl);
    const order: LoadOrder = { urls, requests, ...settings, seconds };
    await untilQuiet(target);
    const before = cpuSecondsOf(target);
    loadProcess ??= startPart('load-process.ts');
    loadProcess.send(order);
    const report = await nextMessage<LoadReport>(loadProcess);
    const after = cpuSecondsOf(target);
    if (report.failures.length > 0) throw failed(requests, report.failures.join(', '));
    if (report.requests > 0) {
      const { requests: count, p50Ms, p99Ms } = report;
      return {
        requests: count,
        requestsPerSecond: count / report.seconds,
        p50Ms,
        p99Ms,
        cpuMicros: ((after.nodes - before.nodes) / count) * 1e6,
        databaseCpuMicros: ((after.database - before.database) / count) * 1e6,
      };
    }
  }
  throw failed(requests, 'no answer');
}

const quietWithinMs = 5_000;
const quietForMs = 40;

/** A burst leaves work behind that nobody waits for any more: the next one begins when it is done. */
async function untilQuiet(target: Target): Promise<void> {
  for (let waitedMs = 0; waitedMs < quietWithinMs; waitedMs += quietForMs) {
    const before = cpuSecondsOf(target).nodes;
    await pause(quietForMs);
    if (!(cpuSecondsOf(target).nodes > before)) return;
  }
}

function nodesOf(target: Target): readonly Target[] {
  return [target, ...(target.others ?? [])];
}

export function cpuSecondsOf(target: Target): { nodes: number; database: number } {
  const nodes = nodesOf(target).reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  return { nodes, database: target.databaseCpuSeconds?.() ?? Number.NaN };
}

function failed([example]: readonly Request[], reason: string): Error {
  return new Error(`${example?.method} ${example?.path}: ${reason}.`);
}

export async function endLoad(): Promise<void> {
  if (loadProcess !== undefined) await end(loadProcess);
  loadProcess = undefined;
}

export const ticksPerSecond = 100;

/** User and system time of a process, from Linux's /proc/PID/stat (fields 14 and 15). */
export function cpuSeconds(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
