import type { Skein } from '../../../../client/src/index.ts';
import { ConfigError, type RemoteConfig } from '../../config/config.ts';
import type { Arguments, CommandLine, Result } from '../command.ts';
import { toldFailure } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** A command on a service somewhere, through its public interface. It opens no store. */
export interface RemoteCommand extends CommandLine {
  /** Undefined where the command has printed what there is, piece by piece. */
  runRemotely(args: Arguments, remote: Remote): Promise<Result | undefined>;
}

/** What such a command works with. */
export interface Remote {
  readonly client: Skein;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
}

/** Fewer than a program's: a person who has mistyped an address learns of it within 3.5 s. */
const retries = 3;

export async function runRemoteCommand(
  command: RemoteCommand,
  args: Arguments,
  config: RemoteConfig,
): Promise<Result | undefined> {
  const client = await connect(config);
  const stopping = new AbortController();
  // Pressed twice, it is meant: the second finds no listener, and ends the process.
  process.once('SIGINT', () => stopping.abort());
  try {
    return await command.runRemotely(args, { client, signal: stopping.signal, terminal: process });
  } catch (error) {
    throw toldFailure(error, stopping.signal.aborted);
  }
}

async function connect({ baseUrl, authUrl, apiKey, application }: RemoteConfig): Promise<Skein> {
  // Here, so that the other commands do not load it. From its sources: the service runs without a build.
  const { Skein } = await import('../../../../client/src/index.ts');
  const common = { baseUrl, retries, userAgent: 'skein-command' };
  if (apiKey !== undefined) return new Skein({ ...common, apiKey });
  if (application !== undefined) return new Skein({ ...common, ...application, authUrl });
  throw new ConfigError(
    'SKEIN_API_KEY',
    "must hold a key: an admin makes one in the console, under API keys, and the operator by 'skein key create ORG --user EMAIL'",
  );
}
