import { readConfig } from '../config/config.ts';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { backup } from './backup.ts';
import type { Arguments, BareCommand, Result, StoreCommand } from './command.ts';
import type { Sections } from './command-line.ts';
import { contentCommands } from './content.ts';
import { copy } from './copy.ts';
import { credentialCommands } from './credentials.ts';
import { doctor, modelTest } from './doctor.ts';
import { organizationCommands } from './organizations.ts';
import { recordCommands } from './records.ts';

/** The operator's commands: they open the store themselves. */
export const storeSections: Sections<StoreCommand | BareCommand> = {
  'Organizations and members:': organizationCommands,
  'Credentials:': credentialCommands,
  'Threads and documents:': contentCommands,
  'Records:': recordCommands,
  'Maintenance:': [copy, backup, doctor, modelTest],
};

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
