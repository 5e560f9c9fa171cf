import { styleText } from 'node:util';
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../config/version.ts';
import { type Arguments, type CommandLine, type Options, UsageError } from './command.ts';
import { printable } from './output.ts';

/** Commands by the heading under which the help lists them. */
export type Sections<C extends CommandLine> = Readonly<Record<string, readonly C[]>>;

type Run<C> = (command: C, args: Arguments) => Promise<void>;

/** Runs the command that the words name. Throws a `UsageError` if the words are invalid. */
export async function runCommandLine<C extends CommandLine>(
  sections: Sections<C>,
  words: readonly string[],
  run: Run<C>,
): Promise<void> {
  const program = buildProgram(sections, run);
  try {
    await program.parseAsync(words.length === 0 ? ['help'] : [...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw usageError(program, words, error);
  }
}

/** Commander's tree of all commands. */
export function buildProgram<C extends CommandLine>(sections: Sections<C>, run: Run<C>): Command {
  const program = new Command('skein')
    .usage('COMMAND [options]')
    .version(packageVersion(), '-V, --version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    // Errors are thrown, and printed by the caller in one line.
    .configureOutput({ writeErr: () => {} })
    .configureHelp({ ...helpStyle, visibleCommands: leavesOf, subcommandTerm: termOf })
    .addHelpText('before', 'Skein, a conversation-thread service.\n')
    .addHelpText('after', introduction);
  for (const [heading, commands] of Object.entries(sections)) {
    for (const command of commands) addCommand(program, heading, command, run);
  }
  program
    .command('help [COMMAND...]', { hidden: true })
    .action((names: string[]) => names.reduce(childNamed, program).help());
  return program;
}

const introduction = `
'skein COMMAND --help' shows options and examples. Most commands accept --json.
The store is SKEIN_DATABASE_URL (sqlite:./data/skein.db). Commands with an API key
use the service at SKEIN_BASE_URL (http://127.0.0.1:8080) and SKEIN_API_KEY.`;

function addCommand<C extends CommandLine>(program: Command, heading: string, command: C, run: Run<C>): void {
  const names = command.name.split(' ');
  const last = names.pop() as string;
  const parent = names.reduce((above, name) => groupNamed(above, name, heading), program);
  // A list of commands shows only the first part of the sentence.
  const summary = command.summary.split(';')[0] as string;
  const leaf = parent.command(last).description(command.summary).summary(summary).helpGroup(heading);
  for (const argument of command.arguments?.split(' ') ?? []) {
    leaf.argument(argument, argumentMeanings[argument.replace(/\W/g, '')]);
  }
  for (const option of command.options ?? []) leaf.addOption(option);
  if (!('runProcess' in command)) leaf.option('--json', 'Print one JSON value');
  const examples = command.examples.map((example) => `\n  skein ${example}`).join('');
  leaf.addHelpText('after', () => `\n${styleText('bold', 'Examples:')}${examples}`);
  leaf.action(async (...given: unknown[]) => {
    const positionals = given
      .slice(0, -2)
      .flat()
      .filter((one) => one !== undefined) as string[];
    if (positionals.includes('')) leaf.error(`error: an argument of '${pathOf(leaf)}' is empty`);
    const options = leaf.opts<Options>();
    command.check?.(options);
    await run(command, { positionals, options });
  });
}

function groupNamed(parent: Command, name: string, heading: string): Command {
  return (
    parent.commands.find((one) => one.name() === name) ??
    parent.command(name).usage('COMMAND [options]').helpGroup(heading)
  );
}

function childNamed(parent: Command, name: string): Command {
  return (
    parent.commands.find((one) => one.name() === name) ??
    parent.error(`error: unknown command '${name}'`, { code: 'commander.unknownCommand' })
  );
}

/** Descriptions of the positional arguments of all commands. */
const argumentMeanings: Readonly<Record<string, string>> = {
  ORG: 'Id of an organization, or its name if the name is unique',
  NAME: 'Name of the organization',
  EMAIL: "The person's e-mail address",
  KEY_ID: 'Id of the API key, key_…',
  CLIENT_ID: 'Id of the application, app_…',
  THREAD_ID: 'Id of the thread, thr_…',
  TITLE: 'The new title',
  FILE: 'Path of a file or, for documents, a folder',
  DOC_ID: 'Id of the document, doc_…',
  QUESTION: 'The question, in quotes',
  PROMPT: 'The question, in quotes; standard input if it is missing or -',
};

/** The commands below a command that run something, in the order of the help. */
export function leavesOf(command: Command): Command[] {
  return command.commands.flatMap((one) => {
    if (one.commands.length > 0) return leavesOf(one);
    return one.name() === 'help' ? [] : [one];
  });
}

/** `org create`: the name as it is typed after `skein`. */
export function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
}

function termOf(command: Command): string {
  const names = command.registeredArguments.map((one) => {
    const name = one.variadic ? `${one.name()}…` : one.name();
    return one.required ? name : `[${name}]`;
  });
  return [pathOf(command), ...names].join(' ');
}

/** Commander removes the styles where the output is not a terminal that shows colours. */
const force = { validateStream: false };
const helpStyle = {
  styleTitle: (text: string) => styleText('bold', text, force),
  styleSubcommandTerm: (text: string) => text.replace(/^[a-z -]+/, (name) => styleText('cyan', name, force)),
  styleOptionTerm: (text: string) => styleText('cyan', text, force),
};

/** Turns Commander's error into one sentence, with a suggestion if a similar name exists. */
function usageError(
  program: Command,
  words: readonly string[],
  { code, message }: CommanderError,
): UsageError {
  const names = words[0] === 'help' ? words.slice(1) : words;
  const known = longestPath(program, names);
  if (code === 'commander.help') {
    const children = known.commands.map((one) => one.name()).join(', ');
    return new UsageError(`'skein ${pathOf(known)}' needs one of: ${children}.`);
  }
  if (code === 'commander.unknownCommand') {
    const typed = names
      .slice(0, 2)
      .filter((word) => !word.startsWith('-'))
      .join(' ');
    const similar = similarTo(typed, leavesOf(program).map(pathOf));
    return new UsageError(`Unknown command '${typed}'.${similar} 'skein help' shows all commands.`);
  }
  const [, sentence = '', suggestion = ''] =
    /^error: (.*?)\.?(?:\n\((Did you mean .*)\))?$/s.exec(message) ?? [];
  // Arguments are not repeated because they may hold a password.
  const start = printable(
    sentence
      .replace(/^./, (letter) => letter.toUpperCase())
      .replace(/(but got \d+): .*/s, '$1')
      .replace(/(option '--?[\w-]+)=.*'/s, "$1'")
      .replace(/(option '[^']+' argument) '.*' is invalid\./is, '$1 is invalid.'),
  );
  const help = `'${['skein', pathOf(known), '--help'].filter(Boolean).join(' ')}' shows its usage.`;
  return new UsageError([`${start}.`, suggestion, help].filter(Boolean).join(' '));
}

function longestPath(program: Command, names: readonly string[]): Command {
  let command = program;
  for (const name of names) {
    const child = command.commands.find((one) => one.name() === name);
    if (child === undefined) break;
    command = child;
  }
  return command;
}

/** Commander compares only names on one level; on whole names it also finds `threads list` for `thread list`. */
function similarTo(typed: string, names: readonly string[]): string {
  const flat = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const name of names) flat.addCommand(new Command(name));
  try {
    flat.parse([typed], { from: 'user' });
  } catch (error) {
    const [, found = ''] = /\(Did you mean (?:one of )?(.*)\?\)/.exec((error as Error).message) ?? [];
    // Commander also finds short names that share half of their letters. A typo rarely changes the first one.
    const near = found.split(', ').filter((name) => name !== '' && name[0] === typed[0]);
    if (near.length > 0) return ` Did you mean '${near.join("' or '")}'?`;
  }
  return '';
}
