/** The closed set of codes a caller may branch on (§7). */
export const errorCodes = [
  'INVALID_PARAMS',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** A failure the caller is told about. `message` is safe to show; the internal reason travels in `cause`, to the log. */
export class ServiceError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ServiceError';
    this.code = code;
  }
}

/** One sentence for missing, deleted, hidden and foreign threads: they must not be told apart (§7). */
export function threadNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'No such thread.');
}
