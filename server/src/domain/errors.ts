/** The closed set of error codes that callers can rely on (§7). */
export const errorCodes = [
  'INVALID_PARAMS',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

interface ErrorOptions {
  readonly cause?: unknown;
  readonly logMessage?: string;
  readonly retryAfterSeconds?: number;
}

/**
 * An error for the caller. `message` is safe to show; the internal reason is in `cause` and goes to the log only.
 * In the request log of the organization, `logMessage` replaces a message that repeats the caller's text. For RATE_LIMITED,
 * `retryAfterSeconds` says when the next attempt is accepted or, if that is unknown, when to try again.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly logMessage: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = 'ServiceError';
    this.code = code;
    this.logMessage = options.logMessage ?? message;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

function createErrors(code: ErrorCode) {
  return (message: string, options?: ErrorOptions) => new ServiceError(code, message, options);
}

export const invalid = createErrors('INVALID_PARAMS');
export const notFound = createErrors('NOT_FOUND');
export const unauthorized = createErrors('UNAUTHORIZED');
export const forbidden = createErrors('FORBIDDEN');

export function rateLimited(message: string, retryAfterSeconds: number): ServiceError {
  return new ServiceError('RATE_LIMITED', message, { retryAfterSeconds });
}

/** The same error for missing, deleted, hidden and foreign threads: callers must not be able to distinguish them (§7). */
export function threadNotFound(): ServiceError {
  return notFound('No such thread.');
}

/** The same error for an unknown organization and for one that the person may not enter. */
export function organizationNotFound(): ServiceError {
  return notFound('No such organization.');
}
