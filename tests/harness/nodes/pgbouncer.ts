import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../service/machine.ts';
import { temporaryFolder } from '../service/service.ts';

/**
 * A PgBouncer in front of a database, on a port of 127.0.0.1. PgBouncer refuses to run as root, so it then runs as
 * `nobody`.
 */
export class PgBouncer {
  readonly url: string;
  readonly #start: () => Promise<ChildProcess>;
  #process: ChildProcess;

  private constructor(url: string, start: () => Promise<ChildProcess>, child: ChildProcess) {
    this.url = url;
    this.#start = start;
    this.#process = child;
  }

  static async start(
    program: string,
    databaseUrl: string,
    settings: Record<string, string>,
  ): Promise<PgBouncer> {
    const database = new URL(databaseUrl);
    const folder = temporaryFolder();
    const port = await freePort();
    const name = database.pathname.slice(1);
    const lines = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'any',
      ignore_startup_parameters: 'statement_timeout',
      ...settings,
    };
    const file = join(folder, 'pgbouncer.ini');
    const target = `host=127.0.0.1 port=${database.port} dbname=${name} user=${database.username} password=${database.password}`;
    const text = Object.entries(lines).map(([key, value]) => `${key} = ${value}\n`);
    writeFileSync(file, `[databases]\n${name} = ${target}\n[pgbouncer]\n${text.join('')}`);
    chmodSync(folder, 0o755);
    const url = new URL(databaseUrl);
    url.port = String(port);
    const startProcess = () => start(program, file);
    return new PgBouncer(url.href, startProcess, await startProcess());
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }

  /** Starts again after `stop`, with the same settings and port. */
  async startAgain(): Promise<void> {
    this.#process = await this.#start();
  }
}

async function start(program: string, file: string): Promise<ChildProcess> {
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(program, [...asNobody, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const output: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`PgBouncer ended:\n${output.join('\n')}`)));
    createInterface({ input: child.stderr }).on('line', (line) => {
      output.push(line);
      if (line.includes('process up')) resolve();
    });
  });
  return child;
}
