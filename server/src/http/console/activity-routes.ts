import { invalid } from '../../domain/errors.ts';
import { dayMs, hourMs, iso, utcDate } from '../../domain/time.ts';
import { findKeyOwners } from '../../usecases/credentials/api-keys.ts';
import { type AuditLog, actorName, targetName } from '../../usecases/organization/audit-log.ts';
import type { Usage } from '../../usecases/organization/requests.ts';
import type { Retention } from '../../usecases/organization/retention.ts';
import { pageQuery, Type } from '../schema.ts';
import { streamOf, whileAdmitted } from '../wire/index.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import * as schemas from './setting-schemas.ts';

export interface ActivityRouteNeeds {
  readonly usage: Usage;
  readonly audit: AuditLog;
  readonly retention: Pick<Retention, 'keptMs'>;
}

type Options = Pick<ConsoleOptions, 'limits'>;

/** What happened in an organization: API requests and their statistics, and the audit log. */
export function activityRoutes(needs: ActivityRouteNeeds, options: Options): readonly ConsoleRoute[] {
  return [usageRoute(needs), requestsRoute(needs, options), ...auditRoutes(needs, options)];
}

const requestsRoute = ({ usage, retention }: ActivityRouteNeeds, { limits }: Options) =>
  defineConsoleRoute('GET /requests', 'admin', {
    query: Type.Object({ ...schemas.requestQuery, ...pageQuery(limits) }),
    response: schemas.requestsSchema,
    async handle(call) {
      const { limit = 50, status, ...query } = withTimes(call.query);
      const page = await usage.listRequests(call.organizationId, {
        ...query,
        limit,
        ...(status && (/^\dxx$/.test(status) ? { statusClass: Number(status[0]) } : { code: status })),
      });
      const keptMs = retention.keptMs.requests;
      const shown = page.requests.map((request) => {
        const { traceId: id, latencyUs, code, message } = request;
        const error = code === null ? null : { code, message: message ?? '' };
        return { ...request, id, ms: latencyUs / 1000, error };
      });
      return { ...page, requests: shown, keptDays: keptMs === undefined ? null : keptMs / dayMs };
    },
  });

const rangeDays = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 };

/** Counts are not split by credential if they are hourly or too many. Only admins see the traffic of the organization. */
const usageRoute = ({ usage }: ActivityRouteNeeds) =>
  defineConsoleRoute('GET /usage', 'member', {
    query: Type.Object({ range: Type.Optional(schemas.usageRange) }),
    response: schemas.usageSchema,
    async handle(call) {
      const { range = '30d' } = call.query;
      const owners = findKeyOwners(call.session);
      const byHour = range === '24h' && owners === 'all';
      const [found, traffic] = await Promise.all([
        usage.read(call.organizationId, owners, rangeDays[range]),
        owners === 'all'
          ? usage.readTraffic(call.organizationId, byHour ? 'hour' : 'day', byHour ? 24 : rangeDays[range])
          : null,
      ]);
      const { quota, firstDay, lastDay, counts, isCut } = found;
      const nameOf = byHour ? (hour: number) => iso(hour * hourMs) : utcDate;
      const [first, last] = byHour ? [traffic!.first, traffic!.last] : [firstDay, lastDay];
      return {
        quota,
        periods: Array.from({ length: last - first + 1 }, (_, index) => nameOf(first + index)),
        counts:
          traffic !== null && (byHour || isCut)
            ? traffic.counts.map((one) => ({ ...one, period: nameOf(one.period), credential: null }))
            : counts.map((one) => ({ ...one, period: utcDate(one.day) })),
        // The counts of traffic are complete.
        isCut: isCut && traffic === null,
        traffic,
      };
    },
  });

function auditRoutes({ audit, usage }: ActivityRouteNeeds, { limits }: Options): readonly ConsoleRoute[] {
  return [
    defineConsoleRoute('GET /audit', 'admin', {
      query: Type.Object({ ...schemas.auditQuery, ...pageQuery(limits) }),
      response: schemas.auditSchema,
      async handle(call) {
        const { events, nextCursor } = await audit.list(call.organizationId, {
          limit: 50,
          ...withTimes(call.query),
        });
        const logged = await usage.findLoggedRequests(call.organizationId, events);
        const shown = events.map((event) => ({
          ...event,
          actor: actorName(event),
          target: targetName(event),
          isLogged: logged.has(event.traceId),
        }));
        return { events: shown, nextCursor };
      },
    }),
    defineConsoleRoute('GET /audit/export', 'admin', {
      isRecorded: true,
      query: Type.Object(schemas.auditQuery),
      response: null,
      async handle(call) {
        const search = withTimes(call.query);
        await audit.recordExport(call, search);
        const pieces = whileAdmitted(audit.exportCsv(call.organizationId, search), call.recheck);
        call.reply
          .header('content-type', 'text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="audit-log.csv"')
          .send(streamOf(call.organizationId, pieces));
      },
    }),
  ];
}

/** Turns the days of a query (UTC) into milliseconds: from the start of the first day to the end of the last. */
function withTimes<Query extends { readonly from?: string; readonly to?: string }>(query: Query) {
  const from = query.from === undefined ? undefined : startOf('from', query.from);
  const to = query.to === undefined ? undefined : startOf('to', query.to) + dayMs - 1;
  return { ...query, from, to };
}

function startOf(field: string, day: string): number {
  const at = Date.parse(day);
  if (Number.isNaN(at)) throw invalid(`\`${field}\` must be a valid date.`);
  return at;
}
