import { Option } from 'commander';
import { type Config, ConfigError, readConfig, readRemoteConfig } from '../config/config.ts';
import { unknownVariables } from '../config/variables.ts';
import { ServiceError } from '../domain/errors.ts';
import { explainFault } from '../domain/store-fault.ts';
import type { Arguments, BareCommand, ProcessCommand, Result, StoreCommand } from './command.ts';
import { UsageError } from './command.ts';
import { runCommandLine, type Sections } from './command-line.ts';
import { jsonLine, paint, printableLines, render } from './output.ts';
import { type RemoteCommand, RemoteFailure, runRemoteCommand } from './remote/remote-command.ts';
import type { Role } from './serve.ts';

type AnyCommand = ProcessCommand | StoreCommand | BareCommand | RemoteCommand;

const roles: readonly Role[] = ['all', 'api', 'worker'];

const serveCommand: ProcessCommand = {
  name: 'serve',
  options: [
    new Option(
      '--role <ROLE>',
      'Serve requests (api), write replies (worker), or both (all, the default)',
    ).choices(roles),
  ],
  summary: 'Run the service',
  examples: ['serve', 'serve --role worker'],
  async runProcess({ options: { role = 'all' } }: Arguments<{ role?: Role }>) {
    // Loaded here, so that the other commands start without it.
    const { serve } = await import('./serve.ts');
    const config = readConfig(process.env);
    const exitCode = await namingStore(config, serve(config, role));
    // All work is finished or released; a connection to a provider that is still opening must not delay the exit.
    process.exit(exitCode);
  },
};

/** Runs the command that the words name, and prints its result. Returns the exit code. Throws what `printError` prints. */
export async function runWords(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = 0;
  const run = async (command: AnyCommand, args: Arguments) => {
    exitCode = await runCommand(command, args, environment);
  };
  await runCommandLine(await loadSections(words[0]), words, run, loadSections);
  return exitCode;
}

interface Section {
  /** The first words of its commands. */
  readonly words: readonly string[];
  readonly load: () => readonly (CommandModule | Promise<CommandModule>)[];
}

interface CommandModule {
  readonly commands: readonly AnyCommand[];
}

/** By the heading under which the help lists their commands. */
const sections: Readonly<Record<string, Section>> = {
  'Service:': { words: ['serve'], load: () => [{ commands: [serveCommand] }] },
  'Organizations and members:': { words: ['org', 'member'], load: () => [import('./organizations.ts')] },
  'Credentials:': { words: ['key', 'app', 'signing-key'], load: () => [import('./credentials.ts')] },
  'Threads and documents:': { words: ['thread', 'doc'], load: () => [import('./content.ts')] },
  'Records:': { words: ['usage', 'audit', 'purge'], load: () => [import('./records.ts')] },
  'Maintenance:': {
    words: ['copy', 'backup', 'doctor', 'model', 'mail'],
    load: () => [import('./copies.ts'), import('./doctor.ts'), import('./trials.ts')],
  },
  'Commands for a running service, with an API key:': {
    words: ['ask', 'threads', 'mcp'],
    load: () => [import('./remote/threads.ts'), import('./remote/mcp.ts')],
  },
  'Shell completion:': {
    words: ['completion'],
    load: () => [import('./completion.ts').then((module) => module.completionCommands(loadSections))],
  },
};

/**
 * Loads only the section with commands that start with `word`, because loading all of them takes 50 ms. The help and
 * unknown commands need all sections.
 */
export async function loadSections(word = ''): Promise<Sections<AnyCommand>> {
  const all = Object.entries(sections);
  const named = all.filter(([, { words }]) => words.includes(word));
  const loaded = (named.length > 0 ? named : all).map(async ([heading, { load }]) => {
    const modules = await Promise.all(load());
    return [heading, modules.flatMap(({ commands }) => commands)] as const;
  });
  return Object.fromEntries(await Promise.all(loaded));
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
    : await runStoreCommand(command, args, environment);
  if (result === undefined) return 0;
  // Remote commands clean their text themselves: a reply goes into a pipe unchanged.
  const clean = isRemote ? (text: string) => text : printableLines;
  const output = args.options.json === true ? jsonLine(result.json) : `${render(result.text, clean)}\n`;
  const { ifLost } = result;
  process.stdout.write(output, (error) => {
    if (error && ifLost !== undefined) printError(new Error(ifLost));
  });
  return result.exitCode ?? 0;
}

async function runStoreCommand(
  command: StoreCommand | BareCommand,
  args: Arguments,
  environment: NodeJS.ProcessEnv,
): Promise<Result> {
  const config = readConfig(environment);
  if ('runAlone' in command) return command.runAlone(args, config, environment);
  // Loaded here: it takes half of the startup time, and the help and the remote commands need no store.
  const { openSkein } = await import('../compose.ts');
  const skein = await openSkein(config, { mustExist: command.createsStore !== true });
  const call = { useCases: skein.useCases, initiator: skein.operator(), options: args.options };
  try {
    return await namingStore(config, command.run(call, ...args.positionals));
  } finally {
    await skein.close();
  }
}

/** SQLite's errors name neither the file nor what to do. */
async function namingStore<T>({ store }: Config, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const error = cause as NodeJS.ErrnoException;
    if (store.engine !== 'sqlite' || !error.code?.startsWith('SQLITE_')) throw error;
    throw new Error(`Cannot use the store ${store.file} (${explainFault(error)}).`, { cause });
  }
}

const expected = [ServiceError, ConfigError, UsageError, RemoteFailure];

/** Prints one sentence to standard error that says what to do. Returns the exit code. */
export function printError(error: unknown): number {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${paint('red', 'skein:', process.stderr)} ${printableLines(message)}\n`);
  // Only the stack: other properties of an error may hold a URL with its password.
  if (process.env.SKEIN_LOG_LEVEL === 'debug' && !expected.some((kind) => error instanceof kind))
    process.stderr.write(`${(error as Error).stack}\n`);
  return error instanceof RemoteFailure ? error.exitCode : 1;
}
