import { ServiceError } from '../../domain/errors.ts';
import { iso, isoOrNull } from '../../domain/iso-time.ts';
import { listRequests } from '../../usecases/organization/list-requests.ts';
import { Type } from '../schema.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { requestQuery, requestsSchema } from './setting-schemas.ts';

const dayMs = 86_400_000;

/** The log of API requests. */
export function requestRoutes({ limits }: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    defineConsoleRoute('GET /requests', 'admin', {
      query: Type.Object({
        ...requestQuery,
        cursor: Type.Optional(Type.String()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSizeMax })),
      }),
      response: requestsSchema,
      async handle({ context, organizationId, query: { limit = 50, status, from, to, ...query } }) {
        const page = await listRequests(context, organizationId, {
          ...query,
          limit,
          statusClass: status && Number(status[0]),
          from: from === undefined ? undefined : startOf('from', from),
          to: to === undefined ? undefined : startOf('to', to) + dayMs - 1,
        });
        const keptMs = context.kept.requests;
        return {
          requests: page.requests.map(({ traceId, at, latencyUs, code, message, ...request }) => {
            const { method, operation, status, credential } = request;
            const error = code === null ? null : { code, message: message ?? '' };
            return {
              id: traceId,
              at: iso(at),
              method,
              operation,
              status,
              ms: latencyUs / 1000,
              credential,
              error,
            };
          }),
          nextCursor: page.nextCursor,
          searchedTo: isoOrNull(page.searchedTo),
          keptDays: keptMs === undefined ? null : keptMs / dayMs,
        };
      },
    }),
  ];
}

/** When a day in UTC starts. */
export function startOf(field: string, day: string): number {
  const at = Date.parse(day);
  if (Number.isNaN(at)) throw new ServiceError('INVALID_PARAMS', `${field}: is not a day.`);
  return at;
}
