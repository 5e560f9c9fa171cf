import { readConfig } from '../config/config.ts';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import type { Arguments, BareCommand, Result, StoreCommand } from './command.ts';
import type { Sections } from './command-line.ts';

type AnyStoreCommand = StoreCommand | BareCommand;

/** The sections of the help. `words` are the first words of their commands. */
const sections: readonly {
  readonly title: string;
  readonly words: readonly string[];
  readonly load: () => Promise<readonly AnyStoreCommand[]>;
}[] = [
  {
    title: 'Organizations and members:',
    words: ['org', 'member'],
    load: async () => (await import('./organizations.ts')).organizationCommands,
  },
  {
    title: 'Credentials:',
    words: ['key', 'app', 'signing-key'],
    load: async () => (await import('./credentials.ts')).credentialCommands,
  },
  {
    title: 'Threads and documents:',
    words: ['thread', 'doc'],
    load: async () => (await import('./content.ts')).contentCommands,
  },
  {
    title: 'Records:',
    words: ['usage', 'audit', 'purge'],
    load: async () => (await import('./records.ts')).recordCommands,
  },
  {
    title: 'Maintenance:',
    words: ['copy', 'backup', 'doctor', 'model', 'mail'],
    async load() {
      const [{ copy }, { backup }, { doctor, mailTest, modelTest }] = await Promise.all([
        import('./copy.ts'),
        import('./backup.ts'),
        import('./doctor.ts'),
      ]);
      return [copy, backup, doctor, modelTest, mailTest];
    },
  },
];

/**
 * The operator's commands, which open the store themselves. With the first word of a command line only the section of its
 * command is loaded; undefined if it has none.
 */
export async function loadStoreSections(): Promise<Sections<AnyStoreCommand>>;
export async function loadStoreSections(word?: string): Promise<Sections<AnyStoreCommand> | undefined>;
export async function loadStoreSections(word?: string): Promise<Sections<AnyStoreCommand> | undefined> {
  const chosen = sections.filter(({ words }) => word === undefined || words.includes(word));
  if (chosen.length === 0) return undefined;
  return Object.fromEntries(
    await Promise.all(chosen.map(async ({ title, load }) => [title, await load()] as const)),
  );
}

export async function runStoreCommand(
  command: StoreCommand | BareCommand,
  args: Arguments,
  environment: NodeJS.ProcessEnv,
): Promise<Result> {
  const config = readConfig(environment);
  if ('runAlone' in command) return command.runAlone(args, config);
  // Loaded here: it takes half of the start, and the help and the remote commands need no store.
  const { openContext } = await import('../compose.ts');
  const context = await openContext(config, { mustExist: command.createsStore !== true });
  const call = { context, config, initiator: operatorInitiator(context), options: args.options };
  try {
    return await command.run(call, ...args.positionals);
  } finally {
    await context.close();
  }
}
