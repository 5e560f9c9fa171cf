import type { ErrorCode, Thread, ThreadMessage } from './types.ts';

/** What is known of a failure besides its sentence. */
export interface FailureFacts {
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
  | 'UNEXPECTED_ANSWER';

/** Every failure of a call. `code` is stable: branch on it, or on the class. */
export class SkeinError extends Error {
  // Spelt out in each class, so that it survives what makes programs small.
  override readonly name: string = 'SkeinError';
  readonly code: FailureFacts['code'];
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** The id of the request, to be quoted to support. */
  readonly traceId: string | undefined;
  /** The thread that exists although the call failed: `threads.wait` goes on with it. */
  readonly threadId: string | undefined;
  /** The key of the create that failed: a create with the same key and body makes no second thread. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { code, status, traceId, cause }: FailureFacts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.traceId = traceId;
    this.threadId = undefined;
    this.idempotencyKey = undefined;
  }
}

/** The request is wrong as it is; the message names the field. */
export class InvalidParamsError extends SkeinError {
  override readonly name = 'InvalidParamsError';
}

/** The credential is missing, malformed or revoked. */
export class UnauthorizedError extends SkeinError {
  override readonly name = 'UnauthorizedError';
}

/** The credential is good and may not do this. */
export class ForbiddenError extends SkeinError {
  override readonly name = 'ForbiddenError';
}

/** There is no such thread, or it is not to be seen by this credential. */
export class NotFoundError extends SkeinError {
  override readonly name = 'NotFoundError';
}

/** The organization's quota is used up. */
export class RateLimitedError extends SkeinError {
  override readonly name = 'RateLimitedError';
  /** When it is worth another try, where the service has said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, facts: FailureFacts & { retryAfterSeconds?: number | undefined }) {
    super(message, facts);
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** The service, or a proxy before it, has failed. */
export class InternalError extends SkeinError {
  override readonly name = 'InternalError';
}

/** What answered does not speak as the service does: a proxy's page, a portal, a wrong `baseUrl`. */
export class UnexpectedAnswerError extends SkeinError {
  override readonly name = 'UnexpectedAnswerError';
}

/** No answer came: the network, a name, a certificate. */
export class ConnectionError extends SkeinError {
  override readonly name = 'ConnectionError';
}

/** The time allowed has passed. */
export class TimeoutError extends SkeinError {
  override readonly name = 'TimeoutError';
}

/** The caller's signal has ended the call; its reason is the `cause`. */
export class AbortedError extends SkeinError {
  /** The name by which programs know an abort of any API. */
  override readonly name = 'AbortError';

  constructor(message: string, cause: unknown) {
    super(message, { code: 'ABORTED', cause });
  }
}

/** The reply has ended without an answer: `reply.status` is `failed` or `cancelled`. */
export class ReplyFailedError extends SkeinError {
  override readonly name = 'ReplyFailedError';
  readonly thread: Thread;
  readonly messages: ThreadMessage[];
  readonly reply: ThreadMessage;

  constructor(thread: Thread, messages: ThreadMessage[], reply: ThreadMessage) {
    const cancelled = reply.status === 'cancelled';
    super(`The reply in ${thread.id} ${cancelled ? 'was cancelled' : `has failed: ${reply.content}`}`, {
      code: cancelled ? 'REPLY_CANCELLED' : 'REPLY_FAILED',
    });
    this.thread = thread;
    this.messages = messages;
    this.reply = reply;
    rememberIn(this, { threadId: thread.id });
  }
}

/** Notes in an error what its catcher needs to go on; answers the same error. */
export function rememberIn(error: unknown, facts: { threadId?: string; idempotencyKey?: string }): unknown {
  return error instanceof SkeinError ? Object.assign(error, facts) : error;
}
