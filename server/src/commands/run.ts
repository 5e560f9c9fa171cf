import { Option } from 'commander';
import { ConfigError, readConfig, readRemoteConfig } from '../config/config.ts';
import { unknownVariables } from '../config/variables.ts';
import { ServiceError } from '../domain/errors.ts';
import {
  type Arguments,
  type BareCommand,
  type ProcessCommand,
  type StoreCommand,
  UsageError,
} from './command.ts';
import { runCommandLine, type Sections } from './command-line.ts';
import { jsonLine, paint, printableLines, render } from './output.ts';
import { type RemoteCommand, RemoteFailure, runRemoteCommand } from './remote/remote-command.ts';
import type { Role } from './serve.ts';

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
    const { serve } = await import('./serve.ts');
    const exitCode = await serve(readConfig(process.env), (options.role ?? 'all') as Role);
    // All work is finished or released; a connection to a provider that is still opening must not delay the exit.
    process.exit(exitCode);
  },
};

/** Runs the command that the words name, and prints its result. Returns the exit code. Throws what `complain` prints. */
export async function runWords(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = 0;
  const run = async (command: AnyCommand, args: Arguments) => {
    exitCode = await runCommand(command, args, environment);
  };
  await runCommandLine(await loadSections(words[0]), words, run, loadSections);
  return exitCode;
}

/**
 * A command starts without the definitions of most others, which take 50 ms to load: only those are loaded that its first
 * word may name. The help and an unknown command need all of them.
 */
async function loadSections(word = ''): Promise<Sections<AnyCommand>> {
  const service = { 'Service:': [serveCommand] };
  if (word === serveCommand.name) return service;
  const { loadStoreSections } = await import('./store-commands.ts');
  const ofStore = await loadStoreSections(word);
  if (ofStore !== undefined) return { ...service, ...ofStore };
  const [storeSections, { ask }, { threadsCommands }, { mcp }, { completionCommands }] = await Promise.all([
    loadStoreSections(),
    import('./remote/ask.ts'),
    import('./remote/threads.ts'),
    import('./remote/mcp.ts'),
    import('./completion.ts'),
  ]);
  const sections: Sections<AnyCommand> = {
    ...service,
    ...storeSections,
    'Commands for a running service, with an API key:': [ask, ...threadsCommands, mcp],
    'Shell completion:': completionCommands(() => sections),
  };
  return sections;
}

async function runCommand(
  command: AnyCommand,
  args: Arguments,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  if ('runProcess' in command) return command.runProcess(args);
  for (const sentence of unknownVariables(environment)) process.stderr.write(`${sentence}\n`);
  const isRemote = 'runRemotely' in command;
  const result = isRemote
    ? await runRemoteCommand(command, args, readRemoteConfig(environment))
    : await (await import('./store-commands.ts')).runStoreCommand(command, args, environment);
  if (result === undefined) return 0;
  // Remote commands clean their text themselves: a reply goes into a pipe unchanged.
  const clean = isRemote ? (text: string) => text : printableLines;
  const output = args.options.json === true ? jsonLine(result.json) : `${render(result.text, clean)}\n`;
  process.stdout.write(output);
  return result.exitCode ?? 0;
}

/** Prints one sentence to standard error that says what to do. Returns the exit code. */
export function complain(error: unknown): number {
  const expected = [ServiceError, ConfigError, UsageError, RemoteFailure].some(
    (kind) => error instanceof kind,
  );
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${paint('red', 'skein:', process.stderr)} ${printableLines(message)}\n`);
  if (!expected && process.env.SKEIN_LOG_LEVEL === 'debug')
    process.stderr.write(`${(error as Error).stack}\n`);
  return error instanceof RemoteFailure ? error.exitCode : 1;
}
