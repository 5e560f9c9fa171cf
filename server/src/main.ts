import { parseArgs } from 'node:util';
import { appCreate, appDelete, appList, appRotate } from './commands/app.ts';
import { audit } from './commands/audit.ts';
import { backup } from './commands/backup.ts';
import {
  type Arguments,
  type BareCommand,
  type CommandLine,
  type Result,
  type StoreCommand,
  UsageError,
} from './commands/command.ts';
import { copy } from './commands/copy.ts';
import { docAdd, docList, docRemove, docSearch } from './commands/doc.ts';
import { doctor } from './commands/doctor.ts';
import { keyCreate, keyList, keyRevoke, keyRotate } from './commands/key.ts';
import { memberAdd, memberInvite, memberList, memberRemove } from './commands/member.ts';
import { modelTest } from './commands/model.ts';
import { orgCreate, orgList, orgSet } from './commands/org.ts';
import { purge } from './commands/purge.ts';
import { ask } from './commands/remote/ask.ts';
import { RemoteFailure } from './commands/remote/failure.ts';
import { type RemoteCommand, runRemoteCommand } from './commands/remote/remote-command.ts';
import { threadsDelete, threadsGet, threadsList, threadsRename } from './commands/remote/threads.ts';
import { threadsExport } from './commands/remote/threads-export.ts';
import { roles, serve } from './commands/serve.ts';
import { signingKeyRotate } from './commands/signing-key.ts';
import { threadPublish, threadUnpublish } from './commands/thread.ts';
import { usage } from './commands/usage.ts';
import { openContext } from './compose.ts';
import { type Config, ConfigError, readConfig, readRemoteConfig } from './config.ts';
import { ServiceError } from './domain/errors.ts';

const storeCommands: readonly (StoreCommand | BareCommand)[] = [
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

const remoteCommands: readonly RemoteCommand[] = [
  ask,
  threadsList,
  threadsGet,
  threadsRename,
  threadsDelete,
  threadsExport,
];

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  // At once: a connection to a store that refused us may stay open for a while.
  process.exit(complain(error));
});

async function main(words: string[]): Promise<number> {
  if (words.length === 0 || words[0] === 'help' || words.includes('--help') || words[0] === '-h') {
    endWithReader();
    process.stdout.write(help());
    return 0;
  }
  if (words[0] === 'serve') return runServe(words.slice(1));
  endWithReader();
  const commands = [...storeCommands, ...remoteCommands];
  const command = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (command === undefined) throw new UsageError(`There is no command '${words.slice(0, 2).join(' ')}'.`);
  return runCommand(command, words.slice(command.name.split(' ').length));
}

async function runServe(words: string[]): Promise<number> {
  const { options } = parse('serve', words, [], { role: { type: 'string', default: 'all' } });
  const role = roles.find((name) => name === options.role);
  if (role === undefined) throw new UsageError(`--role must be ${roles.join(', ')}.`);
  const exitCode = await serve(readConfig(process.env), role);
  // Everything is finished or handed back; a connection to a provider that is still being opened must not keep us.
  process.exit(exitCode);
}

async function runCommand(
  command: StoreCommand | BareCommand | RemoteCommand,
  words: string[],
): Promise<number> {
  const args = parse(command.name, words, command.positionals, {
    ...command.options,
    json: { type: 'boolean' },
  });
  const result = await runAny(command, args);
  if (result === undefined) return 0;
  process.stdout.write(`${args.options.json === true ? JSON.stringify(result.json) : result.text}\n`);
  return result.exitCode ?? 0;
}

function runAny(
  command: StoreCommand | BareCommand | RemoteCommand,
  args: Arguments,
): Promise<Result | undefined> {
  if ('runRemotely' in command) return runRemoteCommand(command, args, readRemoteConfig(process.env));
  const config = readConfig(process.env);
  return 'runAlone' in command ? command.runAlone(args, config) : runOnStore(command, args, config);
}

async function runOnStore(command: StoreCommand, args: Arguments, config: Config): Promise<Result> {
  const context = await openContext(config, { mustExist: command.createsStore !== true });
  try {
    return await command.run(context, args, config);
  } finally {
    await context.store.close();
  }
}

function parse(
  name: string,
  words: string[],
  positionals: readonly string[],
  options: NonNullable<StoreCommand['options']>,
): Arguments {
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: words, options, allowPositionals: true });
  } catch (error) {
    // Node's advice goes on for lines; its first sentence says what is wrong.
    throw new UsageError((error as Error).message.split(/(?<=\.)\s/)[0]);
  }
  const given = parsed.positionals.length;
  const needed = positionals.filter((one) => !one.startsWith('[')).length;
  // The last one may stand for several.
  const most = positionals.at(-1)?.endsWith('…') ? Number.POSITIVE_INFINITY : positionals.length;
  const enough = given >= needed && given <= most;
  if (!enough || parsed.positionals.includes('')) {
    const takes = `'skein ${name}' takes ${positionals.join(' and ') || 'no arguments'}`;
    throw new UsageError(`${takes}${enough ? ', and was given an empty one' : ''}.`);
  }
  return { positionals: parsed.positionals, options: parsed.values as Arguments['options'] };
}

function help(): string {
  const lines = (commands: readonly CommandLine[]) =>
    commands
      .map(({ name, usage, summary }) => `  ${`skein ${name} ${usage}`.trimEnd()}\n      ${summary}\n`)
      .join('');
  return `Skein, a conversation-thread service.

  skein serve [--role ${roles.join('|')}]
      Run the service
${lines(storeCommands)}
On a service somewhere, at SKEIN_BASE_URL (http://127.0.0.1:8080) and with SKEIN_API_KEY:

${lines(remoteCommands)}
Every command but serve takes --json. The store is SKEIN_DATABASE_URL (sqlite:./data/skein.db).
`;
}

/** Whoever reads through a pipe may have read enough, as `head` has: that is no failure. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : complain(error));
  });
}

/** One sentence on standard error that says what to do. */
function complain(error: unknown): number {
  const expected = [ServiceError, ConfigError, UsageError, RemoteFailure].some(
    (kind) => error instanceof kind,
  );
  const hint = error instanceof UsageError ? " 'skein help' shows all commands." : '';
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`skein: ${message}${hint}\n`);
  if (!expected && process.env.SKEIN_LOG_LEVEL === 'debug')
    process.stderr.write(`${(error as Error).stack}\n`);
  return error instanceof RemoteFailure ? error.exitCode : 1;
}
