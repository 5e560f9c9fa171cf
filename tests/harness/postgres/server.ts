import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../service/machine.ts';
import { guardFolder, letGo } from './guard.ts';
import { findInstallation, type Installation, programEnvironment } from './installation.ts';

export type Settings = Readonly<Record<string, string | number>>;

interface PostgresOptions {
  /** Lines of `postgresql.conf` that override the tests' defaults. */
  readonly settings?: Settings;
  /** The password of the superuser `postgres`. A new one unless the data comes from another server. */
  readonly password?: string;
  /** Creates a cluster in an empty folder. Defaults to `initdb`. */
  readonly fill?: (dataFolder: string) => Promise<void>;
}

/**
 * The names are PostgreSQL's: `smart` waits for clients to disconnect, `fast` disconnects them, `immediate` skips the
 * checkpoint.
 */
type StopMode = 'smart' | 'fast' | 'immediate';

const stopSignals = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const;
const startWithinMs = 60_000;
const pollMs = 5;

const testSettings: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  shared_buffers: '64MB',
  // Only a power cut would lose data, not a killed process.
  fsync: 'off',
  // Kept in the data folder, so that a killed server leaves nothing elsewhere.
  dynamic_shared_memory_type: 'mmap',
  max_wal_size: '256MB',
  log_line_prefix: '%m [%p] %d ',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Starts a new server on a free port of 127.0.0.1, in a temporary folder. Both are removed when this process ends. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const installation = findInstallation();
  const folder = mkdtempSync(join(installation.temporaryRoot, 'skein-test-postgres-'));
  const guard = guardFolder(folder);
  try {
    const { password = randomBytes(16).toString('hex'), settings = {} } = options;
    const server = new PostgresServer(installation, folder, guard.release, settings, password);
    await (options.fill ?? ((dataFolder) => initialize(installation, dataFolder, password)))(
      server.dataFolder,
    );
    await server.start();
    return server;
  } catch (error) {
    guard.release();
    throw error;
  }
}

export class PostgresServer {
  readonly dataFolder: string;
  readonly logFile: string;
  readonly password: string;
  readonly #installation: Installation;
  readonly #removeFolder: () => void;
  readonly #settings: Settings;
  #port = 0;
  #process: ChildProcess | undefined;

  constructor(
    installation: Installation,
    folder: string,
    removeFolder: () => void,
    settings: Settings,
    password: string,
  ) {
    this.#installation = installation;
    this.#removeFolder = removeFolder;
    this.#settings = { ...testSettings, ...settings };
    this.password = password;
    this.dataFolder = join(folder, 'data');
    this.logFile = join(folder, 'server.log');
    giveToRunner(installation, folder);
  }

  get port(): number {
    return this.#port;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Connects as the superuser to the database `postgres`. */
  get url(): string {
    return `postgres://postgres:${this.password}@127.0.0.1:${this.#port}/postgres`;
  }

  /** Resolves when the server accepts connections. The port stays the same after the first start. */
  async start(): Promise<void> {
    if (this.#process !== undefined) throw new Error('The server runs already.');
    const deadline = Date.now() + startWithinMs;
    const fixedPort = this.#port;
    for (;;) {
      this.#port = fixedPort || (await freePort());
      const log = await this.#attempt(deadline);
      if (log === undefined) return;
      // The port was taken in the meantime, or backends of a killed server have not noticed yet that it is gone.
      const passes = /Address already in use|pre-existing shared memory block/.test(log);
      if (!passes || Date.now() > deadline) throw new Error(`PostgreSQL did not start:\n${log}`);
      await after(pollMs);
    }
  }

  async stop(mode: StopMode = 'fast'): Promise<void> {
    await this.#end(stopSignals[mode]);
  }

  /** Sends SIGKILL: clients are not notified and there is no checkpoint. The backends end as soon as they notice. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Keeps the port and the data. Also works after `stop` or `kill`. */
  async restart(mode: StopMode = 'fast'): Promise<void> {
    if (this.#process !== undefined) await this.stop(mode);
    await this.start();
  }

  /** Stops the server and removes its data. */
  async remove(): Promise<void> {
    if (this.#process !== undefined) await this.stop('immediate');
    this.#removeFolder();
  }

  /** Returns the server's log if it ended instead of becoming ready. */
  async #attempt(deadline: number): Promise<string | undefined> {
    writeFileSync(join(this.dataFolder, 'postgresql.conf'), configuration(this.#settings, this.#port));
    const log = openSync(this.logFile, 'w');
    const child = spawn(join(this.#installation.bin, 'postgres'), ['-D', this.dataFolder], {
      ...this.#installation.runner,
      cwd: this.dataFolder,
      env: programEnvironment,
      stdio: ['ignore', log, log],
      // Ctrl-C in the terminal is for the tests, which stop their server themselves.
      detached: true,
    });
    closeSync(log);
    letGo(child);
    const spawnFailure = new Promise<Error>((resolve) => child.once('error', resolve));
    if (child.pid === undefined) throw await spawnFailure;
    this.#process = child;
    child.once('exit', () => {
      this.#process = undefined;
    });
    while (!isReady(this.dataFolder, child.pid)) {
      if (hasEnded(child)) return readFileSync(this.logFile, 'utf8');
      if (Date.now() > deadline) {
        await this.kill();
        throw new Error(`PostgreSQL was not ready in time:\n${readFileSync(this.logFile, 'utf8')}`);
      }
      await after(pollMs);
    }
    return undefined;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === undefined) throw new Error('The server does not run.');
    const ended = once(child, 'exit');
    child.ref();
    child.kill(signal);
    await ended;
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/**
 * The last line of the server's pid file says whether it is ready, as for `pg_ctl`. A killed server leaves its file
 * behind.
 */
function isReady(dataFolder: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

async function initialize(installation: Installation, dataFolder: string, password: string): Promise<void> {
  const passwordFile = `${dataFolder}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  giveToRunner(installation, passwordFile);
  const words = ['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'];
  // The password is random, so hashing it 4,096 times for each connection would only take time.
  words.push('--set=scram_iterations=1');
  await promisify(execFile)(
    join(installation.bin, 'initdb'),
    [`--pgdata=${dataFolder}`, `--pwfile=${passwordFile}`, ...words],
    { ...installation.runner, cwd: '/', env: programEnvironment },
  );
}

/** Makes the server the only owner of a file or folder. */
function giveToRunner({ runner }: Installation, path: string): void {
  if (runner.uid !== undefined) chownSync(path, runner.uid, runner.gid);
}

function configuration(settings: Settings, port: number): string {
  const quoted = Object.entries({ ...settings, port }).map(
    ([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'\n`,
  );
  return quoted.join('');
}
