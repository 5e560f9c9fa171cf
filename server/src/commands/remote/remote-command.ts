import type { Skein } from '../../../../client/src/index.ts';
import { ConfigError, type RemoteConfig } from '../../config/config.ts';
import type { Arguments, CommandLine, Result } from '../command.ts';
import { presentFailure } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** A command that uses a remote service through its public API. It opens no store. */
export interface RemoteCommand extends CommandLine {
  /** Undefined if the command has already printed its output. */
  runRemotely(args: Arguments, remote: Remote): Promise<Result | undefined>;
}

export interface Remote {
  readonly client: Skein;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
}

/** Fewer than the client's default, so that a mistyped address fails within 3.5 s. */
const retries = 3;

export async function runRemoteCommand(
  command: RemoteCommand,
  args: Arguments,
  config: RemoteConfig,
): Promise<Result | undefined> {
  const client = await connect(config);
  const stopping = new AbortController();
  // A second Ctrl-C finds no listener and ends the process.
  process.once('SIGINT', () => stopping.abort());
  try {
    return await command.runRemotely(args, { client, signal: stopping.signal, terminal: process });
  } catch (error) {
    throw presentFailure(error, stopping.signal.aborted);
  }
}

async function connect({ baseUrl, authUrl, apiKey, application }: RemoteConfig): Promise<Skein> {
  // Imported here, so that other commands do not load it, and from its sources, because the server has no build.
  const { Skein } = await import('../../../../client/src/index.ts');
  const common = { baseUrl, retries, userAgent: 'skein-command' };
  if (apiKey !== undefined) return new Skein({ ...common, apiKey });
  if (application !== undefined) return new Skein({ ...common, ...application, authUrl });
  throw new ConfigError(
    'SKEIN_API_KEY',
    "must be set: an admin can create a key in the console under API keys, or the operator with 'skein key create ORG --user EMAIL'",
  );
}
