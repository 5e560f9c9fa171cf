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

/** A service to measure: its address and its process. */
export interface Target {
  readonly baseUrl: string;
  readonly pid: number;
  /** More nodes. The connections are split among all of them. */
  readonly others?: readonly Target[];
  /** Processor time that the database behind it has used so far. */
  readonly databaseCpuSeconds?: () => number;
}

export interface LoadSettings {
  readonly connections: number;
  readonly seconds: number;
  /** Ends after this many requests instead. */
  readonly amount?: number;
}

/** The input of the load process. */
export interface LoadOrder extends LoadSettings {
  readonly urls: readonly string[];
  readonly requests: readonly Request[];
}

/** The results of the load process. */
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
  /** Processor time of the answering processes per request; NaN if the system does not report it. */
  readonly cpuMicros: number;
  /** Processor time of the database per request; NaN without a database. */
  readonly databaseCpuMicros: number;
}

let loadProcess: ChildProcess | undefined;

/** On a busy machine, a burst can end before its first response. It is then repeated for longer. */
const triesMax = 5;

/** Sends one burst of requests. Any failed request aborts the benchmark, because a figure for errors is worthless. */
export async function load(
  target: Target,
  requests: readonly Request[],
  settings: LoadSettings,
): Promise<LoadResult> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const seconds = settings.seconds * 2 ** tries;
    const urls = listNodes(target).map(({ baseUrl }) => baseUrl);
    const order: LoadOrder = { urls, requests, ...settings, seconds };
    await untilQuiet(target);
    const before = sumCpuSeconds(target);
    loadProcess ??= startPart('load-process.ts');
    loadProcess.send(order);
    const report = await nextMessage<LoadReport>(loadProcess);
    const after = sumCpuSeconds(target);
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

/** A burst leaves background work behind. The next burst starts when that is done. */
async function untilQuiet(target: Target): Promise<void> {
  for (let waitedMs = 0; waitedMs < quietWithinMs; waitedMs += quietForMs) {
    const before = sumCpuSeconds(target).nodes;
    await pause(quietForMs);
    if (!(sumCpuSeconds(target).nodes > before)) return;
  }
}

function listNodes(target: Target): readonly Target[] {
  return [target, ...(target.others ?? [])];
}

function sumCpuSeconds(target: Target): { nodes: number; database: number } {
  const nodes = listNodes(target).reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
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
