import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { environmentOfOthers } from '../config/environment-of-others.ts';
import type { Log } from '../log.ts';

const lookEveryMs = 100;

/**
 * Builds the console at once if it is missing. Once the service is ready, builds it and then the documentation if they are
 * older than their sources. Does nothing in an installation without these sources.
 */
export function buildServedFiles(log: Log, root = join(import.meta.dirname, '../../..')) {
  const page = join(root, 'console/dist/index.html');
  const ready = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const build = (folder: string, name: string, isAwaited = false) =>
    buildBeside(log, join(root, folder), name, stopping.signal, isAwaited);
  const first = existsSync(page) ? undefined : build('console', 'the console', true);
  const consoleBuilt = first ?? ready.promise.then(() => build('console', 'the console'));
  const ended = consoleBuilt.then(() => build('site', 'the documentation'));
  return {
    /** Resolves as soon as there is a web application to serve, even an outdated one, or its build has failed. */
    consoleReady: first && untilServed(page, first),
    /** Call it once the service is ready: it looks for newer sources, which takes 17 ms of the event loop. */
    checkSources: ready.resolve,
    /** Stops a running build and leaves the existing files. */
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** A build still compresses the files that it has put in place. */
async function untilServed(page: string, build: Promise<void>): Promise<void> {
  const ended = build.then(() => true);
  while (!existsSync(page)) if (await Promise.race([ended, pause(lookEveryMs, false)])) return;
}

/**
 * A failed build does not stop the service. It has the lowest priority, so that requests come first, unless the start of the
 * service waits for it: on a busy machine, that would take minutes.
 */
export async function buildBeside(
  log: Log,
  folder: string,
  name: string,
  stop: AbortSignal,
  isAwaited = false,
): Promise<void> {
  const buildFile = join(folder, 'build.ts');
  try {
    if (stop.aborted || !existsSync(buildFile) || !isOutdated(folder)) return;
    if (isAwaited) log.info(`building ${name} (up to 30 s at the first start)`);
    const [program, ...words] = [...(isAwaited ? [] : ['nice', '-n', '19']), process.execPath, buildFile];
    const build = spawn(program!, words, {
      cwd: folder,
      // A build runs the code of hundreds of packages.
      env: environmentOfOthers(process.env),
      // The build ends when the channel closes: build-once.ts.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // In a group of its own: Ctrl-C stops the service, which then stops the build.
      detached: true,
    });
    stop.addEventListener('abort', () => build.kill());
    const { code, output } = await awaitOutcome(build);
    if (stop.aborted) return;
    if (code === 0) log.info(`built ${name}`);
    else log.warn({ code, output }, `failed to build ${name}: run npm ci, then npm run build`);
  } catch (error) {
    log.warn({ err: error }, `failed to build ${name}`);
  }
}

/** The exit code, which is null if the process did not start, and the end of what it printed. */
async function awaitOutcome(build: ChildProcess): Promise<{ code: number | null; output: string }> {
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

function isOutdated(folder: string): boolean {
  const built = statSync(join(folder, 'dist/.built-from'), { throwIfNoEntry: false });
  if (built === undefined) return true;
  const patterns: string[] = JSON.parse(readFileSync(join(folder, 'sources.json'), 'utf8'));
  return globSync(patterns, { cwd: folder }).some((file) => {
    const source = statSync(join(folder, file), { throwIfNoEntry: false });
    return source?.isFile() && source.mtimeMs > built.mtimeMs;
  });
}
