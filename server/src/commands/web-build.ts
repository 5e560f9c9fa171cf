import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { createLog } from '../compose.ts';

type Log = ReturnType<typeof createLog>;

/** Workspaces that are served as files, and what their files are. */
const served = [
  { folder: 'console', name: 'the web application' },
  { folder: 'site', name: 'the documentation' },
];

/**
 * Builds what is served as files beside the running service, where it is not there or its sources are newer. In a service
 * that was installed without them there is nothing to do. Answers how to stop, which leaves what is there as it is.
 */
export function buildServedFiles(log: Log): () => Promise<void> {
  const stops = served.map(({ folder, name }) =>
    buildBeside(log, join(import.meta.dirname, '../../..', folder), name),
  );
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** A build that fails costs its pages, never the service. */
function buildBeside(log: Log, folder: string, name: string): () => Promise<void> {
  const failed = (error: unknown) => log.warn({ err: error }, `${name} could not be built`);
  try {
    return startBuild(log, folder, name, failed);
  } catch (error) {
    failed(error);
    return async () => {};
  }
}

function startBuild(
  log: Log,
  folder: string,
  name: string,
  failed: (error: unknown) => void,
): () => Promise<void> {
  const buildFile = join(folder, 'build.ts');
  const dist = join(folder, 'dist');
  const lock = `${dist}.building`;
  if (!existsSync(buildFile) || !isOutdated(folder, dist) || !takeLock(lock)) return async () => {};
  const build = spawn(process.execPath, [buildFile], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  // A service that is killed leaves a build behind, which goes on: nobody else begins one meanwhile.
  writeFileSync(holderOf(lock), String(build.pid));
  yieldTo(build);
  let stopping = false;
  let told = '';
  build.stderr.on('data', (text) => {
    told = `${told}${text}`.slice(-2000);
  });
  build.stderr.on('error', () => {});
  const ended = new Promise<number | null>((resolve) => {
    build.once('close', resolve);
    build.on('error', () => resolve(null));
  })
    .then((code) => {
      for (const left of [lock, `${dist}.${build.pid}`, `${dist}.${build.pid}.cache`])
        rmSync(left, { recursive: true, force: true });
      if (stopping) return;
      if (code === 0) log.info(`${name} is built`);
      else log.warn({ code, told }, `${name} could not be built: npm ci, then npm run build`);
    })
    .catch(failed);
  return async () => {
    stopping = true;
    build.kill();
    await ended;
  };
}

/** Whoever is served comes first. */
function yieldTo({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, 19);
  } catch {
    // It has ended already, or the system has no such thing.
  }
}

function isOutdated(folder: string, dist: string): boolean {
  const built = statSync(join(dist, '.built-from'), { throwIfNoEntry: false });
  if (built === undefined) return true;
  const patterns: string[] = JSON.parse(readFileSync(join(folder, 'sources.json'), 'utf8'));
  return globSync(patterns, { cwd: folder }).some((file) => {
    const source = statSync(join(folder, file), { throwIfNoEntry: false });
    return source?.isFile() && source.mtimeMs > built.mtimeMs;
  });
}

/** The process that builds is named in it. */
function holderOf(lock: string): string {
  return join(lock, 'pid');
}

/** Of processes that start together one builds for all. */
function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
  } catch {
    if (isHeld(lock)) return false;
  }
  try {
    writeFileSync(holderOf(lock), String(process.pid));
    return true;
  } catch {
    // A folder that cannot be written to cannot be built into either.
    return false;
  }
}

function isHeld(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(holderOf(lock), 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}
