import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** The root folder of the repository. */
export const root = resolve(import.meta.dirname, '../../..');
/** The `skein` command. */
export const launcher = join(root, 'node_modules/.bin/skein');

type Environment = Record<string, string>;

const temporaryFolders: string[] = [];
process.once('exit', () => {
  for (const folder of temporaryFolders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is removed when the process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skein-test-'));
  temporaryFolders.push(folder);
  return folder;
}

/** Certificates of the machine's own would take 25 ms of processor time in every service. */
const notInherited = new Set(['NODE_EXTRA_CA_CERTS', 'NODE_TEST_CONTEXT']);

/** Drops the machine's own settings, so that only the tests' apply. */
export function cleanEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('SKEIN_') && !notInherited.has(name),
  );
  // Last on the path, so that programs of the machine come first.
  const path = `${process.env.PATH}:${join(root, 'tests/stand-ins')}`;
  return { ...Object.fromEntries(inherited), PATH: path, ...environment };
}

export interface CommandOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the `skein` command as typed, in its own process. */
export async function runSkein(
  folder: string,
  words: readonly string[],
  environment: Environment = {},
): Promise<CommandOutcome> {
  try {
    const { stdout, stderr } = await promisify(execFile)(launcher, [...words], {
      cwd: folder,
      env: cleanEnvironment(environment),
    });
    return { exitCode: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { exitCode: code, stdout, stderr };
  }
}

let operator: Operator | undefined;

/**
 * Like `runSkein`, but in one process for all commands of a test process, which saves half a second of processor time for
 * each. Not for commands whose start, streams, signals or environment matter.
 */
export function runCommand(
  folder: string,
  words: readonly string[],
  environment: Environment = {},
): Promise<CommandOutcome> {
  operator ??= new Operator();
  return operator.run(folder, words, environment);
}

/** Runs an operator's command in the same process. It must succeed. Returns its JSON. */
export async function operate(
  folder: string,
  words: readonly string[],
  environment: Environment = {},
): Promise<any> {
  const { exitCode, stdout, stderr } = await runCommand(folder, [...words, '--json'], environment);
  assert.equal(exitCode, 0, `skein ${words.join(' ')}: ${stderr}${stdout}`);
  return JSON.parse(stdout);
}

class Operator {
  readonly #process = spawn(process.execPath, [join(root, 'server/testing/operator.ts')], {
    env: cleanEnvironment({}),
    // No terminal, so that the output is plain.
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  readonly #waiting: ((outcome: CommandOutcome) => void)[] = [];

  constructor() {
    keepWaitingFor(this.#process, false);
    process.once('exit', () => this.#process.kill('SIGKILL'));
    this.#process.stderr.pipe(process.stderr);
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      this.#waiting.shift()?.(JSON.parse(line));
      if (this.#waiting.length === 0) keepWaitingFor(this.#process, false);
    });
    this.#process.once('exit', () => {
      const ended = { exitCode: -1, stdout: '', stderr: 'The process of the commands ended.' };
      for (const resolve of this.#waiting.splice(0)) resolve(ended);
    });
  }

  run(folder: string, words: readonly string[], environment: Environment): Promise<CommandOutcome> {
    return new Promise((resolve) => {
      keepWaitingFor(this.#process, true);
      this.#waiting.push(resolve);
      const request = { words, folder, environment: cleanEnvironment(environment) };
      this.#process.stdin.write(`${JSON.stringify(request)}\n`);
    });
  }
}

/** A running `skein serve` with its own folder, on a free port. */
export class Service {
  readonly folder: string;
  readonly baseUrl: string;
  /** The part of its environment that configures the store, for other processes on the same store. */
  readonly store: Environment;
  /** Everything the process has printed so far, line by line. */
  readonly output: string[];
  readonly #process: ChildProcess;
  readonly #exited: Promise<number | NodeJS.Signals>;
  #mayFail = false;

  private constructor(
    folder: string,
    baseUrl: string,
    store: Environment,
    output: string[],
    child: ChildProcess,
  ) {
    this.folder = folder;
    this.baseUrl = baseUrl;
    this.store = store;
    this.output = output;
    this.#process = child;
    this.#exited = awaitExit(child);
    void this.#exited.then((outcome) => {
      if (typeof outcome === 'number' && outcome > 0 && !this.#mayFail)
        console.error(`skein serve ended with ${outcome}:`, output.slice(-10));
    });
  }

  static async start({
    folder = temporaryFolder(),
    environment = {},
    words = [],
    command = launcher,
  }: {
    folder?: string;
    environment?: Environment;
    words?: string[];
    command?: string;
  } = {}): Promise<Service> {
    const child = spawn(command, ['serve', ...words], {
      cwd: folder,
      env: cleanEnvironment({ SKEIN_PORT: '0', ...environment }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Leave nothing running if a test fails halfway.
    const killAtExit = () => child.kill('SIGKILL');
    process.once('exit', killAtExit);
    child.once('exit', () => process.removeListener('exit', killAtExit));
    const output: string[] = [];
    const ready = new Promise<string>((resolveReady, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          output.push(line);
          if (line.includes('"msg":"ready"')) resolveReady(JSON.parse(line).address ?? '');
        });
      }
      child.once('exit', (code) =>
        reject(new Error(`skein serve ended with ${code}:\n${output.join('\n')}`)),
      );
    });
    const baseUrl = await ready;
    // A test that fails before it stops the service must not wait for it forever: see `killAtExit`.
    keepWaitingFor(child, false);
    return new Service(folder, baseUrl, selectStore(environment), output, child);
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  /** Sends a signal and waits for the process to end. Returns the exit code, or the signal that ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> {
    keepWaitingFor(this.#process, true);
    this.#process.kill(signal);
    return this.#exited;
  }

  /** Waits for a process that ends without a signal. Returns the same as `end`. */
  async exit(): Promise<number | NodeJS.Signals> {
    this.#mayFail = true;
    keepWaitingFor(this.#process, true);
    return this.#exited;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Runs an operator's command on this service's store, which must succeed. Returns its JSON. */
  async skein(...words: string[]): Promise<any> {
    return operate(this.folder, words, this.store);
  }
}

function selectStore({ SKEIN_DATABASE_URL: url }: Environment): Environment {
  return url === undefined ? {} : { SKEIN_DATABASE_URL: url };
}

/** Whether the test process keeps running while the child does. */
function keepWaitingFor(child: ChildProcess, wait: boolean): void {
  const way = wait ? 'ref' : 'unref';
  child[way]();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket | null)?.[way]();
}

function awaitExit(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((resolveExit) => {
    child.once('exit', (code, signal) => resolveExit(code ?? (signal as NodeJS.Signals)));
  });
}
