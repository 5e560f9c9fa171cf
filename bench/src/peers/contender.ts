import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Request, Target } from '../load.ts';
import { end, start } from '../processes.ts';

/** A service that takes part in the comparison. */
export interface Contender {
  readonly name: string;
  /** Creates a store with this many threads of two messages each in an empty folder. */
  seed(folder: string, threads: number): Promise<SeededContender>;
  /** How many replies are measured: as many as it writes in a few seconds. 0: it writes none, and only requests are measured. */
  readonly repliesAsked: number;
}

/** The requests to a contender with threads. */
export interface SeededContender {
  start(options: StartOptions): Promise<RunningService>;
  readonly get: readonly Request[];
  list(service: Target, depth: number): Promise<readonly Request[]>;
  readonly create: readonly Request[];
  readonly rename: readonly Request[];
  /** Each creates a thread with a prompt. The reply takes `delayMs` to write. */
  ask(count: number, delayMs: number): readonly Request[];
  /** Replies that are finished, among those that were asked for. */
  countFinished(service: Target): Promise<number>;
}

interface StartOptions {
  /** Replies that are written at once, where that can be set. */
  readonly replySlots?: number;
}

export interface RunningService extends Target {
  readonly readyMs: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const readyWithinMs = 60_000;

/** Starts a program that listens on `PORT`. It is ready when it responds to `probe`. */
export async function startProgram(
  [command = '', ...words]: readonly string[],
  folder: string,
  environment: NodeJS.ProcessEnv,
  probe: Request,
): Promise<RunningService> {
  const port = String(await freePort());
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'a');
  const began = performance.now();
  const child = start(command, words, {
    cwd: folder,
    env: { ...withoutSettings(), NODE_ENV: 'production', PORT: port, SKEIN_PORT: port, ...environment },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const baseUrl = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(baseUrl + probe.path, init(probe))
      .then(({ ok }) => ok)
      .catch(() => false);
  while (!(await isReady())) {
    if (child.exitCode !== null || performance.now() - began > readyWithinMs) {
      await end(child, 'SIGKILL');
      throw new Error(
        `not ready within ${readyWithinMs / 1000} s:\n${readFileSync(logFile, 'utf8').slice(-500)}`,
      );
    }
    await pause(5);
  }
  return {
    baseUrl,
    pid: child.pid as number,
    readyMs: performance.now() - began,
    stop: (signal) => end(child, signal),
  };
}

export function init({ method, headers, body }: Request): RequestInit {
  return { method, headers, body: body ?? null, signal: AbortSignal.timeout(30_000) };
}

export function json(method: 'POST' | 'PATCH', path: string, body: unknown, headers = {}): Request {
  return {
    method,
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

export async function answerTo(service: Target, request: Request): Promise<any> {
  const response = await fetch(service.baseUrl + request.path, init(request));
  if (!response.ok) throw new Error(`${request.method} ${request.path} answered ${response.status}.`);
  return response.json();
}

/** Drops the machine's own settings, so that only the benchmark's apply. */
function withoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(SKEIN_|npm_|NODE_OPTIONS|NODE_COMPILE)/.test(name)),
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
