import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { type CommandOutcome, cleanEnvironment, launcher } from '../../harness/service/service.ts';

/** Starts the `skein` command as typed, with pipes for its input and output. */
export function startSkein(
  folder: string,
  words: readonly string[],
  environment: Record<string, string>,
): ChildProcess {
  return spawn(launcher, [...words], { cwd: folder, env: cleanEnvironment(environment), stdio: 'pipe' });
}

/** Waits for the end of a command that `startSkein` has started. */
export async function awaitOutcome(child: ChildProcess): Promise<CommandOutcome> {
  const [stdout, stderr, [exitCode]] = await Promise.all([
    readAll(child.stdout as NodeJS.ReadableStream),
    readAll(child.stderr as NodeJS.ReadableStream),
    once(child, 'close'),
  ]);
  return { exitCode, stdout, stderr };
}

/** Runs the `skein` command as typed, with an input. */
export async function runWithInput(
  folder: string,
  words: readonly string[],
  environment: Record<string, string>,
  input: string | Uint8Array = '',
): Promise<CommandOutcome> {
  const child = startSkein(folder, words, environment);
  // A command that does not read its input may have ended already.
  child.stdin?.on('error', () => {}).end(input);
  return awaitOutcome(child);
}
