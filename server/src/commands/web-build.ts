import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../log.ts';

const lookEveryMs = 100;

interface Build {
  readonly ended: Promise<void>;
  /** Lets requests come first. */
  lowerPriority(): void;
}

const noBuild: Build = { ended: Promise.resolve(), lowerPriority() {} };

/**
 * Builds the console at once if it is missing. Once the service is ready, builds it and then the documentation if they are
 * older than their sources. Does nothing in an installation without these sources.
 */
export function buildServedFiles(log: Log, root = join(import.meta.dirname, '../../..')) {
  const page = join(root, 'console/dist/index.html');
  const ready = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const build = (folder: string, name: string) => buildBeside(log, join(root, folder), name, stopping.signal);
  const update = (folder: string, name: string) => {
    const { lowerPriority, ended } = build(folder, name);
    lowerPriority();
    return ended;
  };
  // The start of the service waits for a missing console: on a busy machine, a low priority would delay it by minutes.
  const first = existsSync(page) ? undefined : build('console', 'the console');
  const consoleBuilt = first?.ended ?? ready.promise.then(() => update('console', 'the console'));
  const ended = consoleBuilt.then(() => update('site', 'the documentation'));
  return {
    /** Resolves as soon as there is a web application to serve, even an outdated one, or its build has failed. */
    consoleReady: untilServed(log, page, first),
    /** To be called once the service is ready: looks for newer sources, which takes 17 ms of the event loop. */
    checkSources: ready.resolve,
    /** Stops a running build and leaves the existing files. */
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

async function untilServed(log: Log, page: string, build = noBuild): Promise<void> {
  if (build === noBuild) return;
  log.info('building the console; this can take half a minute at the first start');
  const ended = build.ended.then(() => true);
  while (!existsSync(page)) if (await Promise.race([ended, pause(lookEveryMs, false)])) return;
  // It still compresses the files.
  build.lowerPriority();
}

/** A failed build does not stop the service. */
export function buildBeside(log: Log, folder: string, name: string, stop: AbortSignal): Build {
  const failed = (error: unknown) => log.warn({ err: error }, `${name} could not be built`);
  const buildFile = join(folder, 'build.ts');
  const dist = join(folder, 'dist');
  try {
    if (stop.aborted || !existsSync(buildFile) || !isOutdated(folder, dist)) return noBuild;
    const build = spawn(process.execPath, [buildFile], {
      cwd: folder,
      // The build ends when the channel closes: build-once.ts.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // In a group of its own: Ctrl-C stops the service, which then stops the build.
      detached: true,
    });
    const exited = outcomeOf(build);
    stop.addEventListener('abort', () => build.kill());
    const ended = exited.then(({ code, output }) => {
      if (stop.aborted) return;
      if (code === 0) log.info(`${name} is built`);
      else log.warn({ code, output }, `${name} could not be built: npm ci, then npm run build`);
    });
    return { ended: ended.catch(failed), lowerPriority: () => lowerPriority(build) };
  } catch (error) {
    failed(error);
    return noBuild;
  }
}

/** The exit code, which is null if the process did not start, and the end of what it printed. */
async function outcomeOf(build: ChildProcess): Promise<{ code: number | null; output: string }> {
  const exited = once(build, 'close').catch(() => [null]);
  let output = '';
  // Missing if the process has no file descriptors left.
  build.stderr
    ?.setEncoding('utf8')
    .on('error', () => {})
    .on('data', (text: string) => {
      output = (output + text).slice(-2000);
    });
  const [code] = await exited;
  return { code, output };
}

function lowerPriority({ pid }: ChildProcess): void {
  try {
    for (const thread of threadsOf(pid!)) setPriority(thread, constants.priority.PRIORITY_LOW);
  } catch {
    // The build has already ended or did not start, or the system has no priorities.
  }
}

/** On Linux each thread has its own priority. Elsewhere the process has one. */
export function threadsOf(pid: number): number[] {
  return process.platform === 'linux' ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid];
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
