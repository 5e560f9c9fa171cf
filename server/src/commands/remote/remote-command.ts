import type { RateLimitedError, Skein, SkeinError } from '../../../../client/src/index.ts';
import { ConfigError, type RemoteConfig } from '../../config/config.ts';
import { type Arguments, type CommandLine, onStopSignal, type Result } from '../command.ts';
import { printable } from '../output.ts';

/** A command that uses a remote service through its public API. It opens no store. */
export interface RemoteCommand extends CommandLine {
  /** Undefined if the command has already printed its output. */
  runRemotely(args: Arguments, remote: Remote): Promise<Result | undefined>;
}

export interface Remote {
  readonly client: Skein;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Fewer than the client's default, so that a mistyped URL fails within 3.5 s. */
const retries = 3;

export async function runRemoteCommand(
  command: RemoteCommand,
  args: Arguments,
  config: RemoteConfig,
): Promise<Result | undefined> {
  const client = await connect(config);
  const stopping = new AbortController();
  const release = onStopSignal(['SIGINT'], () => stopping.abort());
  try {
    return await command.runRemotely(args, { client, signal: stopping.signal });
  } catch (error) {
    throw presentFailure(error, stopping.signal.aborted);
  } finally {
    release();
  }
}

export async function connect({ baseUrl, authUrl, apiKey, application }: RemoteConfig): Promise<Skein> {
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

/** A failure of a remote command, in one line that says what to do. */
export class RemoteFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

type ClientFailure = SkeinError & Partial<Pick<RateLimitedError, 'retryAfterSeconds'>>;

/** The exit code that shells use after Ctrl-C. */
const interrupted = 130;

/** Turns an error of the client into a sentence that says what to do. */
export function presentFailure(error: unknown, stopped: boolean): unknown {
  if (stopped) return new RemoteFailure(stoppedSentence(error as Partial<ClientFailure>), interrupted);
  // The client's classes are not imported, so that it is loaded only on use.
  if (!(error instanceof Error && 'traceId' in error && 'code' in error)) return error;
  const failure = error as ClientFailure;
  const trace = failure.traceId === undefined ? '' : ` (trace ID ${failure.traceId})`;
  const sentence = `${error.message.replace(/\.$/, '')}${trace}. ${adviceFor(failure)}`;
  return new RemoteFailure(printable(sentence.trimEnd()), 1);
}

function stoppedSentence({ threadId, idempotencyKey }: Partial<ClientFailure>): string {
  if (threadId !== undefined) {
    return `Stopped waiting. The reply continues: run 'skein threads get ${printable(threadId)} --wait' to see it.`;
  }
  if (idempotencyKey === undefined) return 'Stopped.';
  return "Stopped before the service responded. Run 'skein threads list' to see whether the thread was created.";
}

function adviceFor({ code, threadId, retryAfterSeconds }: ClientFailure): string {
  switch (code) {
    case 'UNAUTHORIZED':
      return 'Check SKEIN_API_KEY, or SKEIN_CLIENT_ID and SKEIN_CLIENT_SECRET; an admin can create new ones in the console.';
    case 'NOT_FOUND':
      return "Use 'skein threads list' to see the threads that this credential can read.";
    case 'RATE_LIMITED':
      return retryAfterSeconds === undefined ? 'Try again later.' : `Try again in ${retryAfterSeconds} s.`;
    case 'INTERNAL_ERROR':
      return 'Try again; if it keeps failing, send the trace ID to the operator.';
    case 'CONNECTION':
    case 'UNEXPECTED_RESPONSE':
      return 'Check that the service is running and that SKEIN_BASE_URL is correct.';
    case 'TIMEOUT':
      return threadId === undefined
        ? 'Try again.'
        : `Use 'skein threads get ${threadId} --wait' to keep waiting.`;
    case 'REPLY_FAILED':
      return 'The operator can look up the reason by the id of the thread.';
    // The service's message says what to do.
    default:
      return '';
  }
}
