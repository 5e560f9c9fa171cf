import { parseArgs } from 'node:util';
import { openContext } from '../compose.ts';
import { type Config, readConfig } from '../config/config.ts';
import { appCreate, appDelete, appList, appRotate } from './app.ts';
import { audit } from './audit.ts';
import { backup } from './backup.ts';
import {
  type Arguments,
  type BareCommand,
  type CommandLine,
  type Result,
  type StoreCommand,
  UsageError,
} from './command.ts';
import { copy } from './copy.ts';
import { docAdd, docList, docRemove, docSearch } from './doc.ts';
import { doctor } from './doctor.ts';
import { keyCreate, keyList, keyRevoke, keyRotate } from './key.ts';
import { memberAdd, memberInvite, memberList, memberRemove } from './member.ts';
import { modelTest } from './model.ts';
import { orgCreate, orgList, orgSet } from './org.ts';
import { purge } from './purge.ts';
import { signingKeyRotate } from './signing-key.ts';
import { threadPublish, threadUnpublish } from './thread.ts';
import { usage } from './usage.ts';

/** The operator's commands: they open the store themselves. */
export const storeCommands: readonly (StoreCommand | BareCommand)[] = [
  orgCreate,
  orgSet,
  orgList,
  memberAdd,
  memberInvite,
  memberRemove,
  memberList,
  keyCreate,
  keyRevoke,
  keyRotate,
  keyList,
  appCreate,
  appRotate,
  appDelete,
  appList,
  signingKeyRotate,
  threadPublish,
  threadUnpublish,
  docAdd,
  docList,
  docRemove,
  docSearch,
  usage,
  audit,
  purge,
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
  return 'runAlone' in command ? command.runAlone(args, config) : runOnStore(command, args, config);
}

async function runOnStore(command: StoreCommand, args: Arguments, config: Config): Promise<Result> {
  const context = await openContext(config, { mustExist: command.createsStore !== true });
  try {
    return await command.run(context, args, config);
  } finally {
    await context.close();
  }
}

/** The arguments after the command's name. */
export function parseArguments(
  { name, positionals, options }: Omit<CommandLine, 'usage' | 'summary'>,
  words: readonly string[],
  shared: CommandLine['options'] = { json: { type: 'boolean' } },
): Arguments {
  const args = words.slice(name.split(' ').length);
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args,
      options: { ...options, ...shared },
      allowPositionals: true,
    });
  } catch (error) {
    // Node's message has several lines; the first sentence says what is wrong.
    throw new UsageError((error as Error).message.split(/(?<=\.)\s/)[0]);
  }
  const given = parsed.positionals.length;
  const needed = positionals.filter((one) => !one.startsWith('[')).length;
  // The last one may be repeated.
  const most = positionals.at(-1)?.endsWith('…') ? Number.POSITIVE_INFINITY : positionals.length;
  const enough = given >= needed && given <= most;
  if (!enough || parsed.positionals.includes('')) {
    const takes = `'skein ${name}' takes ${positionals.join(' and ') || 'no arguments'}`;
    throw new UsageError(`${takes}${enough ? ', and was given an empty one' : ''}.`);
  }
  return { positionals: parsed.positionals, options: parsed.values as Arguments['options'] };
}
