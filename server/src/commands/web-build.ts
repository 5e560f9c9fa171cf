import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { createLog } from '../compose.ts';

type Log = ReturnType<typeof createLog>;

const consoleFolder = join(import.meta.dirname, '../../../console');
const buildFile = join(consoleFolder, 'build.ts');
const dist = join(consoleFolder, 'dist');
const lock = `${dist}.building`;
const holder = join(lock, 'pid');

/**
 * Builds the web application beside the running service, where it is not there or its sources are newer. In a service that
 * was installed without them there is nothing to do. Answers how to stop, which leaves what is there as it is.
 */
export function buildWebApplication(log: Log): () => Promise<void> {
  if (!existsSync(buildFile) || !isOutdated() || !takeLock()) return async () => {};
  const build = spawn(process.execPath, [buildFile], {
    cwd: consoleFolder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // A service that is killed leaves a build behind, which goes on: nobody else begins one meanwhile.
  writeFileSync(holder, String(build.pid));
  yieldTo(build);
  let stopping = false;
  let told = '';
  build.stderr.on('data', (text) => {
    told = `${told}${text}`.slice(-2000);
  });
  const ended = new Promise<number | null>((resolve) => {
    build.once('close', resolve);
    build.once('error', () => resolve(null));
  }).then((code) => {
    for (const folder of [lock, `${dist}.${build.pid}`]) rmSync(folder, { recursive: true, force: true });
    if (stopping) return;
    if (code === 0) log.info('the web application is built');
    else log.warn({ code, told }, 'the web application could not be built: npm ci, then npm run build');
  });
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

function isOutdated(): boolean {
  const built = statSync(join(dist, '.built-from'), { throwIfNoEntry: false });
  if (built === undefined) return true;
  const sources = globSync('{src,public}/**/*', { cwd: consoleFolder });
  return [...sources, 'index.html', 'vite.config.ts', 'build.ts', '../package-lock.json'].some((file) => {
    const source = statSync(join(consoleFolder, file), { throwIfNoEntry: false });
    return source?.isFile() && source.mtimeMs > built.mtimeMs;
  });
}

/** Of processes that start together one builds for all. */
function takeLock(): boolean {
  try {
    mkdirSync(lock);
  } catch {
    if (isHeld()) return false;
  }
  try {
    writeFileSync(holder, String(process.pid));
    return true;
  } catch {
    // A folder that cannot be written to cannot be built into either.
    return false;
  }
}

function isHeld(): boolean {
  try {
    process.kill(Number(readFileSync(holder, 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}
