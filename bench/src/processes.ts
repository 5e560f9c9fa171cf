import { type ChildProcess, fork, type SpawnOptions, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The root folder of the repository. */
export const root = resolve(import.meta.dirname, '../..');

const running = new Set<ChildProcess>();
const folders = new Set<string>();

// Leave no process and no folder behind, however the benchmark ends.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => process.exit(code));
}

/** A folder on the measured disk: in `SKEIN_BENCH_FOLDER`, or else in the system's temporary folder. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(process.env.SKEIN_BENCH_FOLDER ?? tmpdir(), 'skein-bench-'));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  folders.delete(folder);
}

export function start(command: string, words: readonly string[], options: SpawnOptions): ChildProcess {
  return watched(spawn(command, [...words], options));
}

/** Starts a part of the benchmark in a separate process, so that it takes no time from this one. */
export function startPart(file: string): ChildProcess {
  return watched(fork(join(import.meta.dirname, file), { stdio: 'inherit' }));
}

export function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolveMessage, reject) => {
    const ended = (code: number | null) => reject(new Error(`A part of the benchmark ended with ${code}.`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.removeListener('exit', ended);
      resolveMessage(message as T);
    });
  });
}

export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolveExit) => child.once('exit', resolveExit));
  child.kill(signal);
  await exited;
}

function watched(child: ChildProcess): ChildProcess {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}
