import { parseArgs } from 'node:util';
import { openContext } from '../compose.ts';
import { readConfig } from '../config/config.ts';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { backup } from './backup.ts';
import {
  type Arguments,
  type BareCommand,
  type CommandLine,
  type Options,
  type Result,
  type StoreCommand,
  UsageError,
} from './command.ts';
import { contentCommands } from './content.ts';
import { copy } from './copy.ts';
import { credentialCommands } from './credentials.ts';
import { doctor, modelTest } from './doctor.ts';
import { organizationCommands } from './organizations.ts';
import { recordCommands } from './records.ts';

/** The operator's commands, in the order of the help: they open the store themselves. */
export const storeCommands: readonly (StoreCommand | BareCommand)[] = [
  ...organizationCommands,
  ...credentialCommands,
  ...contentCommands,
  ...recordCommands,
  copy,
  backup,
  doctor,
  modelTest,
];

/** The command that the words start with. */
export function findCommand<C extends CommandLine>(commands: readonly C[], words: readonly string[]): C {
  const command = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (command === undefined) throw new UsageError(`Unknown command '${words.slice(0, 2).join(' ')}'.`);
  return command;
}

export async function runStoreCommand(
  command: StoreCommand | BareCommand,
  args: Arguments,
  environment: NodeJS.ProcessEnv,
): Promise<Result> {
  const config = readConfig(environment);
  if ('runAlone' in command) return command.runAlone(args, config);
  const context = await openContext(config, { mustExist: command.createsStore !== true });
  const call = { context, config, initiator: operatorInitiator(context), options: args.options };
  try {
    return await command.run(call, ...args.positionals);
  } finally {
    await context.close();
  }
}

/** Parses the arguments after the command's name as its usage line says. Every command but `serve` also accepts `--json`. */
export function parseArguments(
  { name, usage, check }: Pick<CommandLine, 'name' | 'usage' | 'check'>,
  words: readonly string[],
): Arguments {
  const { positionals: expected, options, choices } = readUsage(usage);
  const args = words.slice(name.split(' ').length);
  const all = name === 'serve' ? options : { ...options, json: { type: 'boolean' as const } };
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args, options: all, allowPositionals: true });
  } catch (error) {
    // Node's message has several lines; the first sentence says what is wrong.
    throw new UsageError((error as Error).message.split(/(?<=\.)\s/)[0]);
  }
  const { positionals, values } = parsed;
  const needed = expected.filter((one) => !one.startsWith('[')).length;
  // The last one may be repeated.
  const most = expected.at(-1)?.endsWith('…') ? Number.POSITIVE_INFINITY : expected.length;
  const enough = positionals.length >= needed && positionals.length <= most;
  if (!enough || positionals.includes('')) {
    const takes = `'skein ${name}' takes ${expected.join(' and ') || 'no arguments'}`;
    throw new UsageError(`${takes}${enough ? ', and was given an empty one' : ''}.`);
  }
  for (const [option, allowed] of choices) {
    const value = values[option];
    if (value === undefined || allowed.includes(String(value))) continue;
    const listed = allowed.length > 2 ? `one of ${allowed.join(', ')}` : allowed.join(' or ');
    throw new UsageError(`--${option} must be ${listed}, and is '${value}'.`);
  }
  check?.(values as Options);
  return { positionals, options: values as Options };
}

/** The positional arguments, the options and the choices of each option, as a usage line shows them. */
function readUsage(usage: string) {
  const options: Record<string, { type: 'string' | 'boolean' }> = {};
  const choices = new Map<string, readonly string[]>();
  const rest = usage.replace(/--([\w-]+)(?: ([\w|]*\w))?/g, (_, name: string, value: string | undefined) => {
    options[name] = { type: value === undefined ? 'boolean' : 'string' };
    if (value?.includes('|')) choices.set(name, value.split('|'));
    return '';
  });
  return { positionals: rest.match(/\[?[A-Z_]+…?\]?/g) ?? [], options, choices };
}
