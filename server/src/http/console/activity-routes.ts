import { invalid } from '../../domain/errors.ts';
import { dayMs, hourMs, iso, utcDate } from '../../domain/time.ts';
import { keyOwnersFor } from '../../usecases/credentials/api-keys.ts';
import { actorName, exportAudit, listAudit, targetName } from '../../usecases/organization/audit-log.ts';
import { recordExport } from '../../usecases/organization/record-action.ts';
import {
  findLoggedRequests,
  listRequests,
  readTraffic,
  readUsage,
} from '../../usecases/organization/requests.ts';
import { streamOf, whileAdmitted } from '../long-responses.ts';
import { pageQuery, Type } from '../schema.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import * as schemas from './setting-schemas.ts';

/** What happened in an organization: API requests and their statistics, and the audit log. */
export function activityRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  return [usage, requests(options), ...auditRoutes(options)];
}

const requests = ({ limits }: ConsoleOptions) =>
  defineConsoleRoute('GET /requests', 'admin', {
    query: Type.Object({ ...schemas.requestQuery, ...pageQuery(limits) }),
    response: schemas.requestsSchema,
    async handle(call) {
      const { limit = 50, status, ...query } = withTimes(call.query);
      const page = await listRequests(call, {
        ...query,
        limit,
        ...(status && (/^\dxx$/.test(status) ? { statusClass: Number(status[0]) } : { code: status })),
      });
      const keptMs = call.context.retentionMs.requests;
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
const usage = defineConsoleRoute('GET /usage', 'member', {
  query: Type.Object({ range: Type.Optional(schemas.usageRange) }),
  response: schemas.usageSchema,
  async handle(call) {
    const { range = '30d' } = call.query;
    const owners = keyOwnersFor(call.session);
    const byHour = range === '24h' && owners === 'all';
    const [found, traffic] = await Promise.all([
      readUsage(call, owners, rangeDays[range]),
      owners === 'all' ? readTraffic(call, byHour ? 'hour' : 'day', byHour ? 24 : rangeDays[range]) : null,
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

function auditRoutes({ limits }: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    defineConsoleRoute('GET /audit', 'admin', {
      query: Type.Object({ ...schemas.auditQuery, ...pageQuery(limits) }),
      response: schemas.auditSchema,
      async handle(call) {
        const { events, nextCursor } = await listAudit(call, { limit: 50, ...withTimes(call.query) });
        const logged = await findLoggedRequests(call, events);
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
        await recordExport(call, search);
        const pieces = whileAdmitted(exportAudit(call, search), call.recheck);
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
