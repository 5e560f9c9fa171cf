import type { ReadStream, WriteStream } from 'node:tty';

/** The input and output of a command, a terminal or a pipe. `process` implements it. */
export interface Terminal {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** Whether a status line can be shown and removed. */
export function isLive({ stdout, stderr, env }: Terminal): boolean {
  return stdout.isTTY === true && stderr.isTTY === true && env.TERM !== 'dumb';
}

/** Replaces control characters, which a terminal would obey, except newlines and tabs. */
export function shown(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[^\P{Cc}\n\t]/gu, '\uFFFD');
}
