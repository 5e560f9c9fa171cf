import type { ErrorCode } from '../../domain/errors.ts';
import { errorStatus } from '../error-response.ts';
import type { Route } from '../route.ts';
import { examples } from './examples.ts';
import { errorSchema } from './schemas.ts';

/** The errors of any request under `/api/v1`, in the order in which they are checked. */
const commonErrors = {
  UNAUTHORIZED: 'The credential is missing, malformed or revoked.',
  NOT_FOUND:
    'No such thread, or the caller may not read it, or the public API is not enabled for the organization.',
  RATE_LIMITED: "The organization's daily quota is used up.",
  INVALID_PARAMS: 'The request is malformed.',
  INTERNAL_ERROR: 'Unexpected failure: retry with exponential backoff.',
} as const satisfies Partial<Record<ErrorCode, string>>;

const header = (description: string) => ({ description, type: 'string' });
const requestId = { 'X-Request-Id': header('The trace id of the request.') };
const headers = {
  ...requestId,
  RateLimit: header('The remaining daily quota, and the seconds until it resets.'),
  'RateLimit-Policy': header('The daily quota.'),
};
/** Headers of specific errors: an unknown caller has no quota to report. */
const failureHeaders: Partial<Record<ErrorCode, object>> = {
  UNAUTHORIZED: { ...requestId, 'WWW-Authenticate': header('The scheme that is expected: Bearer.') },
  RATE_LIMITED: { ...headers, 'Retry-After': header('Seconds until the quota resets.') },
};

/** The part of a route's schema that only the OpenAPI document uses. */
export function describeRoute(route: Route): object {
  const { operationId, summary, description, success } = route;
  return {
    operationId,
    summary,
    description,
    tags: ['threads'],
    security: [{ bearer: [] }],
    response: {
      [success.status]: {
        description: 'Success.',
        headers: { ...headers, ...successHeaders(route) },
        content: { 'application/json': { schema: success.schema, example: examples[operationId] } },
      },
      ...(success.conditional && {
        304: { description: 'Nothing changed since the given ETag.', type: 'null', headers },
      }),
      ...failures(route),
    },
  };
}

function successHeaders({ success, headers: accepted }: Route) {
  return {
    ...(success.status === 201 && { Location: header('The path of the new thread.') }),
    ...(success.conditional && { ETag: header('For If-None-Match.') }),
    ...(accepted?.properties.prefer && {
      'Preference-Applied': header('The wait that was granted, where one was asked for.'),
    }),
  };
}

function failures({ errors }: Route): Record<number, object> {
  const described = Object.entries({ ...commonErrors, ...errors }) as [ErrorCode, string][];
  return Object.fromEntries(
    described.map(([code, description]) => [
      errorStatus[code],
      {
        description: `${code}: ${description}`,
        headers: failureHeaders[code] ?? headers,
        content: { 'application/json': { schema: errorSchema, example: exampleFailure(code, description) } },
      },
    ]),
  );
}

function exampleFailure(code: ErrorCode, message: string): object {
  return { error: { code, message, trace_id: '7d1f5c7e-0a56-4a58-9a0c-5f0b1c6f3f7a' } };
}
