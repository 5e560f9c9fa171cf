import { type ChildProcess, execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { ticksPerSecond } from './load.ts';
import { end, root, start } from './processes.ts';

export interface PostgresServer {
  /** Creates a database that is removed with the server. */
  database(): Promise<string>;
  /** User and system time that all its processes have used so far, including processes that have ended. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/**
 * Durable as in production, unlike the test server, which does not sync. The buffers are large enough for the measured
 * data.
 */
const settings = ['fsync=on', 'shared_buffers=512MB', 'max_wal_size=2GB'];

const databaseProgram = join(root, 'tests/harness/postgres/database-program.ts');

/** Starts the PostgreSQL server of the tests in a separate process. */
export async function startPostgres(): Promise<PostgresServer> {
  const databaseProcesses: ChildProcess[] = [];
  const createDatabase = async (environment: NodeJS.ProcessEnv): Promise<string> => {
    const child = start(process.execPath, [databaseProgram, ...settings], {
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    databaseProcesses.push(child);
    return firstLine(child);
  };
  const { SKEIN_BENCH_FOLDER: folder } = process.env;
  const url = await createDatabase({ SKEIN_TEST_POSTGRES_URL: '', ...(folder && { TMPDIR: folder }) });
  const postmaster = listChildren(databaseProcesses[0]!.pid!).find(({ name }) => name === 'postgres');
  if (postmaster === undefined) throw new Error('The PostgreSQL server process was not found.');
  let first: string | undefined = url;
  return {
    async database() {
      const fresh = first ?? (await createDatabase({ SKEIN_TEST_POSTGRES_URL: url }));
      first = undefined;
      return fresh;
    },
    cpuSeconds: () => cpuSecondsWithChildren(postmaster.pid),
    async stop() {
      // Stop the process that holds the server last.
      for (const child of databaseProcesses.reverse()) await end(child);
    },
  };
}

/** Whether a PostgreSQL program is installed. */
export async function isOnPath(program: 'psql' | 'pgbench'): Promise<boolean> {
  return promisify(execFile)(program, ['--version']).then(
    () => true,
    () => false,
  );
}

/** Runs statements through `psql` and returns their rows as text. */
export async function sql(url: string, statements: string): Promise<string[][]> {
  const running = promisify(execFile)(
    'psql',
    ['--no-psqlrc', '--quiet', '--no-align', '--tuples-only', '--field-separator=\t', '--file=-', url],
    { env: { ...process.env, PSQLRC: '' }, maxBuffer: 64 * 1024 * 1024 },
  );
  running.child.stdin!.end(`\\set ON_ERROR_STOP on\n${statements}`);
  const { stdout } = await running;
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line.trim();
  throw new Error('PostgreSQL did not start: see the output above.');
}

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly cpuSeconds: number;
  /** The time of its children that have ended. */
  readonly endedCpuSeconds: number;
}

/** Reads again if a child has ended meanwhile, because it would be counted twice or not at all. */
function cpuSecondsWithChildren(postmaster: number): number {
  for (;;) {
    const before = readStat(postmaster);
    const living = listChildren(postmaster).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
    const after = readStat(postmaster);
    if (before === undefined || after === undefined) return Number.NaN;
    if (before.endedCpuSeconds === after.endedCpuSeconds)
      return after.cpuSeconds + after.endedCpuSeconds + living;
  }
}

function listChildren(pid: number): ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((stat) => stat?.parent === pid) as ProcessStat[];
}

/** Reads fields 4 and 14 to 17 of Linux's /proc/PID/stat. Undefined if the process has ended. */
function readStat(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15) as [number, number, number, number];
    return {
      pid,
      parent: fields[1]!,
      name,
      cpuSeconds: (user + system) / ticksPerSecond,
      endedCpuSeconds: (endedUser + endedSystem) / ticksPerSecond,
    };
  } catch {
    return undefined;
  }
}
