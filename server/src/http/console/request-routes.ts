import { ServiceError } from '../../domain/errors.ts';
import { iso, isoOrNull } from '../../domain/iso-time.ts';
import { utcDate } from '../../domain/quota.ts';
import { hourMs } from '../../domain/traffic.ts';
import { keyOwnersFor } from '../../usecases/credentials/api-keys.ts';
import { listRequests } from '../../usecases/organization/list-requests.ts';
import { readTraffic, type Traffic } from '../../usecases/organization/read-traffic.ts';
import { readUsage } from '../../usecases/organization/read-usage.ts';
import { Type } from '../schema.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { requestQuery, requestsSchema, type UsageJson, usageRange, usageSchema } from './setting-schemas.ts';

const dayMs = 86_400_000;

/** The log of API requests, and statistics of them. */
export function requestRoutes({ limits }: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    usage,
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

const rangeDays = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 };

/** By the hour for the last 24 hours, otherwise by the day. Only admins see traffic, because it is that of all members. */
const usage = defineConsoleRoute('GET /usage', 'member', {
  query: Type.Object({ range: Type.Optional(usageRange) }),
  response: usageSchema,
  async handle({ context, session, organizationId, query: { range = '30d' } }) {
    const owners = keyOwnersFor(session);
    const byHour = range === '24h' && owners === 'all';
    const [found, traffic] = await Promise.all([
      readUsage(context, organizationId, owners, rangeDays[range]),
      owners === 'all'
        ? readTraffic(context, organizationId, byHour ? 'hour' : 'day', byHour ? 24 : rangeDays[range])
        : null,
    ]);
    const { quota, firstDay, lastDay, counts } = found;
    const shown: Pick<UsageJson, 'periods' | 'counts'> = byHour
      ? countsByHour(traffic!)
      : {
          periods: Array.from({ length: lastDay - firstDay + 1 }, (_, index) => utcDate(firstDay + index)),
          counts: counts.map(({ day, credential, operation, outcome, requests }) => {
            return { period: utcDate(day), credential, operation, outcome, requests };
          }),
        };
    return {
      quota: { ...quota, resetsAt: iso(quota.resetsAt) },
      ...shown,
      traffic: traffic && {
        operations: [...traffic.operations],
        errors: [...traffic.errors],
        replies: traffic.replies,
      },
    };
  },
});

function countsByHour({ first, last, counts }: Traffic): Pick<UsageJson, 'periods' | 'counts'> {
  const hourOf = (hour: number) => iso(hour * hourMs);
  return {
    periods: Array.from({ length: last - first + 1 }, (_, index) => hourOf(first + index)),
    counts: counts.map(({ period, operation, outcome, requests }) => {
      return { period: hourOf(period), credential: null, operation, outcome, requests };
    }),
  };
}

/** When a day in UTC starts. */
export function startOf(field: string, day: string): number {
  const at = Date.parse(day);
  if (Number.isNaN(at)) throw new ServiceError('INVALID_PARAMS', `${field}: is not a day.`);
  return at;
}
