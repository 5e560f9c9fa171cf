import type { ReadStream, WriteStream } from 'node:tty';

/** What a command reads and prints, whether a person sits there or a pipe. `process` is one. */
export interface Terminal {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** Whether a line can be shown and taken back again. */
export function isLive({ stdout, stderr, env }: Terminal): boolean {
  return stdout.isTTY === true && stderr.isTTY === true && env.TERM !== 'dumb';
}

/** What others have written, line by line, without characters that would make a terminal do something. */
export function shown(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[^\P{Cc}\n\t]/gu, '\uFFFD');
}
