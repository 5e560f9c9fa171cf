import {
  type BareCommand,
  type CommandLine,
  printableLines,
  type StoreCommand,
  UsageError,
} from './commands/command.ts';
import { findCommand, parseArguments, runStoreCommand, storeCommands } from './commands/command-line.ts';
import { ask } from './commands/remote/ask.ts';
import { type RemoteCommand, RemoteFailure, runRemoteCommand } from './commands/remote/remote-command.ts';
import { threadsCommands } from './commands/remote/threads.ts';
import type { Role } from './commands/serve.ts';
import { ConfigError, readConfig, readRemoteConfig } from './config/config.ts';
import { ServiceError } from './domain/errors.ts';

const remoteCommands: readonly RemoteCommand[] = [ask, ...threadsCommands];

const serveCommand: CommandLine = {
  name: 'serve',
  usage: '[--role all|api|worker]',
  summary: 'Run the service',
};

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  // Exit immediately: a rejected connection to a store may stay open for a while.
  process.exit(complain(error));
});

async function main(words: string[]): Promise<number> {
  if (words.length === 0 || words[0] === 'help' || words.includes('--help') || words[0] === '-h') {
    endWithReader();
    process.stdout.write(help());
    return 0;
  }
  if (words[0] === 'serve') return runServe(words);
  endWithReader();
  return runCommand(findCommand([...storeCommands, ...remoteCommands], words), words);
}

async function runServe(words: string[]): Promise<number> {
  const { options } = parseArguments(serveCommand, words);
  // Loaded here, so that the other commands start without it.
  const { serve } = await import('./commands/serve.ts');
  const exitCode = await serve(readConfig(process.env), (options.role ?? 'all') as Role);
  // All work is finished or released; a connection to a provider that is still opening must not delay the exit.
  process.exit(exitCode);
}

async function runCommand(
  command: StoreCommand | BareCommand | RemoteCommand,
  words: string[],
): Promise<number> {
  const args = parseArguments(command, words);
  const result =
    'runRemotely' in command
      ? await runRemoteCommand(command, args, readRemoteConfig(process.env))
      : await runStoreCommand(command, args, process.env);
  if (result === undefined) return 0;
  // Remote commands clean their text themselves: a reply goes into a pipe unchanged.
  const text = 'runRemotely' in command ? result.text : printableLines(result.text);
  process.stdout.write(`${args.options.json === true ? JSON.stringify(result.json) : text}\n`);
  return result.exitCode ?? 0;
}

function help(): string {
  const lines = (commands: readonly CommandLine[]) =>
    commands
      .map(({ name, usage, summary }) => `  ${`skein ${name} ${usage}`.trimEnd()}\n      ${summary}\n`)
      .join('');
  return `Skein, a conversation-thread service.

${lines([serveCommand, ...storeCommands])}
Commands for a remote service at SKEIN_BASE_URL (http://127.0.0.1:8080), with SKEIN_API_KEY:

${lines(remoteCommands)}
Every command except serve accepts --json. The store is SKEIN_DATABASE_URL (sqlite:./data/skein.db).
`;
}

/** The reader of a pipe may close it early, as `head` does. That is not a failure. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : complain(error));
  });
}

/** Prints one sentence to standard error that says what to do. Returns the exit code. */
function complain(error: unknown): number {
  const expected = [ServiceError, ConfigError, UsageError, RemoteFailure].some(
    (kind) => error instanceof kind,
  );
  const hint = error instanceof UsageError ? " 'skein help' shows all commands." : '';
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`skein: ${printableLines(message)}${hint}\n`);
  if (!expected && process.env.SKEIN_LOG_LEVEL === 'debug')
    process.stderr.write(`${(error as Error).stack}\n`);
  return error instanceof RemoteFailure ? error.exitCode : 1;
}
