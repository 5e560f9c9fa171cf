import { Option } from 'commander';
import {
  type Arguments,
  type BareCommand,
  type ProcessCommand,
  type StoreCommand,
  UsageError,
} from './commands/command.ts';
import { runCommandLine, type Sections } from './commands/command-line.ts';
import { jsonLine, paint, printableLines, render } from './commands/output.ts';
import { type RemoteCommand, RemoteFailure, runRemoteCommand } from './commands/remote/remote-command.ts';
import type { Role } from './commands/serve.ts';
import { ConfigError, readConfig, readRemoteConfig } from './config/config.ts';
import { unknownVariables } from './config/variables.ts';
import { ServiceError } from './domain/errors.ts';

type AnyCommand = ProcessCommand | StoreCommand | BareCommand | RemoteCommand;

const serveCommand: ProcessCommand = {
  name: 'serve',
  options: [
    new Option('--role <ROLE>', 'Serve requests, write replies, or both; all by default').choices([
      'all',
      'api',
      'worker',
    ]),
  ],
  summary: 'Run the service',
  examples: ['serve', 'serve --role worker'],
  async runProcess({ options }) {
    // Loaded here, so that the other commands start without it.
    const { serve } = await import('./commands/serve.ts');
    const exitCode = await serve(readConfig(process.env), (options.role ?? 'all') as Role);
    // All work is finished or released; a connection to a provider that is still opening must not delay the exit.
    process.exit(exitCode);
  },
};

if (process.argv[2] !== serveCommand.name) endWithReader();
await runCommandLine(
  await loadSections(process.argv[2]),
  process.argv.slice(2),
  runCommand,
  loadSections,
).catch((error: unknown) => {
  // Exit immediately: a rejected connection to a store may stay open for a while.
  process.exit(complain(error));
});

/**
 * A command starts without the definitions of most others, which take 50 ms to load: only those are loaded that its first
 * word may name. The help and an unknown command need all of them.
 */
async function loadSections(word = ''): Promise<Sections<AnyCommand>> {
  const service = { 'Service:': [serveCommand] };
  if (word === serveCommand.name) return service;
  const { loadStoreSections } = await import('./commands/store-commands.ts');
  const ofStore = await loadStoreSections(word);
  if (ofStore !== undefined) return { ...service, ...ofStore };
  const [storeSections, { ask }, { threadsCommands }, { mcp }, { completionCommands }] = await Promise.all([
    loadStoreSections(),
    import('./commands/remote/ask.ts'),
    import('./commands/remote/threads.ts'),
    import('./commands/remote/mcp.ts'),
    import('./commands/completion.ts'),
  ]);
  const sections: Sections<AnyCommand> = {
    ...service,
    ...storeSections,
    'Commands for a running service, with an API key:': [ask, ...threadsCommands, mcp],
    'Shell completion:': completionCommands(() => sections),
  };
  return sections;
}

async function runCommand(command: AnyCommand, args: Arguments): Promise<void> {
  if ('runProcess' in command) {
    process.exitCode = await command.runProcess(args);
    return;
  }
  for (const sentence of unknownVariables(process.env)) console.error(sentence);
  const isRemote = 'runRemotely' in command;
  const result = isRemote
    ? await runRemoteCommand(command, args, readRemoteConfig(process.env))
    : await (await import('./commands/store-commands.ts')).runStoreCommand(command, args, process.env);
  if (result === undefined) return;
  process.exitCode = result.exitCode ?? 0;
  // Remote commands clean their text themselves: a reply goes into a pipe unchanged.
  const clean = isRemote ? (text: string) => text : printableLines;
  const output = args.options.json === true ? jsonLine(result.json) : `${render(result.text, clean)}\n`;
  process.stdout.write(output);
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
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${paint('red', 'skein:', process.stderr)} ${printableLines(message)}\n`);
  if (!expected && process.env.SKEIN_LOG_LEVEL === 'debug')
    process.stderr.write(`${(error as Error).stack}\n`);
  return error instanceof RemoteFailure ? error.exitCode : 1;
}
