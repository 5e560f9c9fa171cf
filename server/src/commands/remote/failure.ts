import { printable } from '../command.ts';

/** A failure as it is told to people: in one line that says what to do. */
export class RemoteFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.name = 'RemoteFailure';
    this.exitCode = exitCode;
  }
}

/** What the client's errors have in common; the client itself is not loaded for their sake. */
interface ClientFailure extends Error {
  readonly code: string;
  readonly traceId: string | undefined;
  readonly threadId: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** As a shell tells of a program that Ctrl-C has ended. */
const interrupted = 130;

export function toldFailure(error: unknown, stopped: boolean): unknown {
  if (stopped) return new RemoteFailure(stoppedSentence(error as Partial<ClientFailure>), interrupted);
  if (!isClientFailure(error)) return error;
  const trace = error.traceId === undefined ? '' : ` (trace id ${error.traceId})`;
  const told = `${error.message.replace(/\.$/, '')}${trace}. ${adviceFor(error)}`;
  return new RemoteFailure(printable(told.trimEnd()), 1);
}

function isClientFailure(error: unknown): error is ClientFailure {
  return error instanceof Error && 'traceId' in error && 'code' in error;
}

function stoppedSentence({ threadId, idempotencyKey }: Partial<ClientFailure>): string {
  if (threadId !== undefined) {
    return `Stopped waiting, and the reply goes on: 'skein threads get ${printable(threadId)} --wait' shows it.`;
  }
  if (idempotencyKey === undefined) return 'Stopped.';
  return "Stopped before the service had answered: 'skein threads list' shows whether there is a thread.";
}

function adviceFor({ code, threadId, retryAfterSeconds }: ClientFailure): string {
  switch (code) {
    case 'UNAUTHORIZED':
      return 'Check SKEIN_API_KEY, or SKEIN_CLIENT_ID and SKEIN_CLIENT_SECRET; an admin makes others in the console.';
    case 'NOT_FOUND':
      return "'skein threads list' shows the threads that this credential can read.";
    case 'RATE_LIMITED':
      return retryAfterSeconds === undefined ? 'Try again later.' : `Try again in ${retryAfterSeconds} s.`;
    case 'INTERNAL_ERROR':
      return 'Try again; if it stays so, tell the operator the trace id.';
    case 'CONNECTION':
    case 'UNEXPECTED_ANSWER':
      return 'Does the service run there? SKEIN_BASE_URL says where it is.';
    case 'TIMEOUT':
      return threadId === undefined
        ? 'Try again.'
        : `'skein threads get ${threadId} --wait' goes on with it.`;
    case 'REPLY_FAILED':
      return 'The operator finds the reason by the id of the thread.';
    // The service's own sentence says what to do.
    default:
      return '';
  }
}
