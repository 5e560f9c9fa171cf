import type { ErrorCode, Thread, ThreadMessage } from './types.ts';

/** The details of an error besides its message. */
interface ErrorDetails {
  /** One of the service's codes, one of this client's own, or a code that this version does not know yet. */
  readonly code: ErrorCode | ClientErrorCode | (string & {});
  readonly status?: number | undefined;
  readonly traceId?: string | undefined;
  readonly cause?: unknown;
}

/** Codes of errors that did not come from the service. */
export type ClientErrorCode =
  | 'ABORTED'
  | 'CONNECTION'
  | 'REPLY_CANCELLED'
  | 'REPLY_FAILED'
  | 'TIMEOUT'
  | 'UNEXPECTED_RESPONSE';

/** Every failure of a call. `code` is stable: branch on it, or on the class. */
export class SkeinError extends Error {
  // Set in each class, because minifiers rename classes.
  override readonly name: string = 'SkeinError';
  readonly code: ErrorDetails['code'];
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The id of the request, for support. */
  readonly traceId: string | undefined;
  /** The thread that was created before the call failed. Continue with `threads.wait`. */
  readonly threadId: string | undefined;
  /** The key of the failed create. Another create with the same key and body does not create a second thread. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { code, status, traceId, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.traceId = traceId;
    this.threadId = undefined;
    this.idempotencyKey = undefined;
  }
}

/** The request is invalid. The message names the field. */
export class InvalidParamsError extends SkeinError {
  override readonly name = 'InvalidParamsError';
}

/** The credential is missing, malformed or revoked. */
export class UnauthorizedError extends SkeinError {
  override readonly name = 'UnauthorizedError';
}

/** The credential is valid but not allowed to do this. */
export class ForbiddenError extends SkeinError {
  override readonly name = 'ForbiddenError';
}

/** The thread does not exist, or the credential cannot access it. */
export class NotFoundError extends SkeinError {
  override readonly name = 'NotFoundError';
}

/** The organization's quota is used up. */
export class RateLimitedError extends SkeinError {
  override readonly name = 'RateLimitedError';
  /** When to try again, if the service said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, details: ErrorDetails & { retryAfterSeconds?: number | undefined }) {
    super(message, details);
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** The service or a proxy in front of it failed. */
export class InternalError extends SkeinError {
  override readonly name = 'InternalError';
}

/** The response did not come from the service: a proxy's page, a login portal, a wrong `baseUrl`. */
export class UnexpectedResponseError extends SkeinError {
  override readonly name = 'UnexpectedResponseError';
}

/** There was no response: a network, DNS or certificate problem. */
export class ConnectionError extends SkeinError {
  override readonly name = 'ConnectionError';
}

/** The call took longer than its timeout. */
export class TimeoutError extends SkeinError {
  override readonly name = 'TimeoutError';
}

/** The caller's signal was aborted. The signal's reason is the `cause`. */
export class AbortedError extends SkeinError {
  /** The name that aborts have in every web API. */
  override readonly name = 'AbortError';

  constructor(message: string, cause: unknown) {
    super(message, { code: 'ABORTED', cause });
  }
}

/** The reply failed or was cancelled, as `reply.status` says. */
export class ReplyFailedError extends SkeinError {
  override readonly name = 'ReplyFailedError';
  readonly thread: Thread;
  readonly messages: ThreadMessage[];
  readonly reply: ThreadMessage;

  constructor(thread: Thread, messages: ThreadMessage[], reply: ThreadMessage) {
    const cancelled = reply.status === 'cancelled';
    super(`The reply in ${thread.id} ${cancelled ? 'was cancelled' : `failed: ${reply.content}`}`, {
      code: cancelled ? 'REPLY_CANCELLED' : 'REPLY_FAILED',
    });
    this.thread = thread;
    this.messages = messages;
    this.reply = reply;
    addTo(this, { threadId: thread.id });
  }
}

/** Adds to an error what the caller needs to continue. Returns the same error. */
export function addTo(error: unknown, details: { threadId?: string; idempotencyKey?: string }): unknown {
  return error instanceof SkeinError ? Object.assign(error, details) : error;
}
