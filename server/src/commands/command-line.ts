import { styleText } from 'node:util';
import { Command, CommanderError } from 'commander';
import { editDistance } from '../../../runtime/src/pure/text.ts';
import { packageVersion } from '../config/config.ts';
import { type Arguments, type CommandLine, type Options, UsageError } from './command.ts';
import { printable } from './output.ts';

/** Commands by the heading under which the help lists them. */
export type Sections<C extends CommandLine> = Readonly<Record<string, readonly C[]>>;

type Run<C> = (command: C, args: Arguments) => Promise<void>;

/**
 * Runs the command that the words name. Throws a `UsageError` if the words are invalid. `sections` may lack commands that
 * the words cannot name; `loadAll` loads every command, to suggest one.
 */
export async function runCommandLine<C extends CommandLine>(
  sections: Sections<C>,
  words: readonly string[],
  run: Run<C>,
  loadAll: () => Promise<Sections<C>> = async () => sections,
): Promise<void> {
  const program = buildProgram(sections, run);
  try {
    await program.parseAsync(words.length === 0 ? ['help'] : [...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    const named = words[0] === 'help' ? words.slice(1) : words;
    if (error.code !== 'commander.unknownCommand') throw usageError(longestPath(program, named), error);
    const names = Object.values(await loadAll()).flatMap((commands) => commands.map(({ name }) => name));
    throw unknownCommand(named, names);
  }
}

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
    .configureHelp({ ...helpStyle, visibleCommands: listLeaves, subcommandTerm: formatTerm })
    .addHelpText('before', 'Skein, a conversation-thread service.\n')
    .addHelpText('after', introduction);
  for (const [heading, commands] of Object.entries(sections)) {
    for (const command of commands) addCommand(program, heading, command, run);
  }
  program
    .command('help [COMMAND...]', { hidden: true })
    .action((names: string[]) => names.reduce(knownChild, program).help());
  return program;
}

const introduction = `
Run 'skein COMMAND --help' for options and examples. Most commands take --json.
SKEIN_DATABASE_URL sets the store (default: sqlite:./data/skein.db). Commands
for a running service use SKEIN_API_KEY and SKEIN_BASE_URL (default:
http://127.0.0.1:8080).`;

function addCommand<C extends CommandLine>(program: Command, heading: string, command: C, run: Run<C>): void {
  const names = command.name.split(' ');
  const last = names.pop() as string;
  const addGroup = (above: Command, name: string) =>
    above.command(name).usage('COMMAND [options]').helpGroup(heading);
  const parent = names.reduce((above, name) => childNamed(above, name) ?? addGroup(above, name), program);
  // A list of commands shows only the first sentence.
  const summary = command.summary.split('. ')[0] as string;
  const leaf = parent.command(last).description(command.summary).summary(summary).helpGroup(heading);
  for (const [argument, meaning] of Object.entries(command.arguments ?? {})) leaf.argument(argument, meaning);
  for (const option of command.options ?? []) leaf.addOption(option);
  if (!('runProcess' in command)) leaf.option('--json', 'Print one JSON value');
  const examples = command.examples.map((example) => `\n  skein ${example}`).join('');
  leaf.addHelpText('after', () => `\n${styleText('bold', 'Examples:')}${examples}`);
  leaf.action(async () => {
    const positionals = leaf.processedArgs.flat().filter((one) => one !== undefined) as string[];
    if (positionals.includes('')) leaf.error(`error: an argument of '${formatPath(leaf)}' is empty`);
    const options = leaf.opts<Options>();
    // Probably an unset shell variable.
    const empty = leaf.options.find((one) => options[one.attributeName()] === '');
    if (empty) leaf.error(`error: the value of '${empty.long}' is empty`);
    command.check?.(options);
    await run(command, { positionals, options });
  });
}

export function childNamed(parent: Command, name: string): Command | undefined {
  return parent.commands.find((one) => one.name() === name);
}

function knownChild(parent: Command, name: string): Command {
  const fault = `error: unknown command '${name}'`;
  return childNamed(parent, name) ?? parent.error(fault, { code: 'commander.unknownCommand' });
}

/** The commands below a command that run something, in the order of the help. */
function listLeaves(command: Command): Command[] {
  return command.commands.flatMap((one) => {
    if (one.commands.length > 0) return listLeaves(one);
    return one.name() === 'help' ? [] : [one];
  });
}

/** `org create`: the name as it is typed after `skein`. */
function formatPath(command: Command): string {
  return command.parent === null ? '' : `${formatPath(command.parent)} ${command.name()}`.trim();
}

function formatTerm(command: Command): string {
  const names = command.registeredArguments.map((one) => {
    const name = one.variadic ? `${one.name()}…` : one.name();
    return one.required ? name : `[${name}]`;
  });
  return [formatPath(command), ...names].join(' ');
}

/** Commander removes the styles where the output is not a terminal that shows colors. */
const force = { validateStream: false };
const helpStyle = {
  styleTitle: (text: string) => styleText('bold', text, force),
  styleSubcommandTerm: (text: string) => text.replace(/^[a-z -]+/, (name) => styleText('cyan', name, force)),
  styleOptionTerm: (text: string) => styleText('cyan', text, force),
};

/** Turns Commander's error into one sentence, with a suggestion if a similar option exists. */
function usageError(known: Command, { code, message }: CommanderError): UsageError {
  if (code === 'commander.help') {
    const children = known.commands.map((one) => one.name()).join(', ');
    return new UsageError(`'skein ${formatPath(known)}' needs a subcommand: ${children}.`);
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
  const help = `Run '${['skein', formatPath(known), '--help'].filter(Boolean).join(' ')}' for usage.`;
  return new UsageError([`${start}.`, suggestion, help].filter(Boolean).join(' '));
}

function longestPath(command: Command, [name = '', ...rest]: readonly string[]): Command {
  const child = childNamed(command, name);
  return child === undefined ? command : longestPath(child, rest);
}

/** Compares each name with as many typed words as it has: `threads list` is near `thread list`, `usage` near `usge Acme`. */
function unknownCommand(words: readonly string[], names: readonly string[]): UsageError {
  const typed = (count: number) =>
    words
      .slice(0, count)
      .filter((word) => !word.startsWith('-'))
      .join(' ');
  const distances = names.map((name) => editDistance(typed(name.split(' ').length), name));
  const least = Math.min(...distances);
  // A typo rarely changes the first letter.
  const near = names.filter(
    (name, index) => distances[index] === least && least <= name.length / 3 && name[0] === typed(1)[0],
  );
  const suggestion = near.length === 0 ? '' : ` Did you mean '${near.join("' or '")}'?`;
  return new UsageError(`Unknown command '${typed(2)}'.${suggestion} Run 'skein help' for all commands.`);
}
