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
}

export interface LoadSettings {
  readonly connections: number;
  readonly seconds: number;
}

/** What the load process is told. */
export interface LoadOrder extends LoadSettings {
  readonly url: string;
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
  /** Processor time of the answering process, for one request; NaN where the system does not tell. */
  readonly cpuMicros: number;
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
    const order: LoadOrder = { url: target.baseUrl, requests, ...settings, seconds };
    await untilQuiet(target);
    const cpuBefore = cpuSeconds(target.pid);
    loadProcess ??= startPart('load-process.ts');
    loadProcess.send(order);
    const report = await nextMessage<LoadReport>(loadProcess);
    const cpu = cpuSeconds(target.pid) - cpuBefore;
    if (report.failures.length > 0) throw failed(requests, report.failures.join(', '));
    if (report.requests > 0) {
      const { requests: count, p50Ms, p99Ms } = report;
      const cpuMicros = (cpu / count) * 1e6;
      return { requests: count, requestsPerSecond: count / report.seconds, p50Ms, p99Ms, cpuMicros };
    }
  }
  throw failed(requests, 'no answer');
}

const quietWithinMs = 5_000;
const quietForMs = 40;

/** A burst leaves work behind that nobody waits for any more: the next one begins when it is done. */
async function untilQuiet({ pid }: Target): Promise<void> {
  for (let waitedMs = 0; waitedMs < quietWithinMs; waitedMs += quietForMs) {
    const before = cpuSeconds(pid);
    await pause(quietForMs);
    if (!(cpuSeconds(pid) > before)) return;
  }
}

function failed([example]: readonly Request[], reason: string): Error {
  return new Error(`${example?.method} ${example?.path}: ${reason}.`);
}

export async function endLoad(): Promise<void> {
  if (loadProcess !== undefined) await end(loadProcess);
  loadProcess = undefined;
}

const ticksPerSecond = 100;

/** User and system time of a process, from Linux's /proc/PID/stat (fields 14 and 15). */
function cpuSeconds(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
