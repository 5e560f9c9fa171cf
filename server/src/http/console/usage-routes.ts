import { iso } from '../../domain/iso-time.ts';
import { utcDayStart } from '../../domain/quota.ts';
import { keyOwnersFor } from '../../usecases/credentials/api-keys.ts';
import { readUsage, type UsageOverview } from '../../usecases/organization/read-usage.ts';
import { Type } from '../schema.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { type UsageJson, usageSchema } from './setting-schemas.ts';

const daysMax = 90;
const defaultDays = 30;

export const usageRoutes: readonly ConsoleRoute[] = [
  defineConsoleRoute({
    method: 'GET',
    url: '/usage',
    caller: 'member',
    query: Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: daysMax })) }),
    response: usageSchema,
    async handle({ context, session, principal: { organizationId, userId }, query }) {
      const owners = keyOwnersFor({ role: session.membership.role, userId });
      const usage = await readUsage(context, organizationId, owners, query.days ?? defaultDays);
      return presentUsage(usage);
    },
  }),
];

function presentUsage({ quota, firstDay, lastDay, counts }: UsageOverview): UsageJson {
  const days = Array.from({ length: lastDay - firstDay + 1 }, (_, index) => date(firstDay + index));
  return {
    quota: { ...quota, resetsAt: iso(quota.resetsAt) },
    days,
    counts: counts.map(({ day, credential, operation, outcome, requests }) => ({
      day: date(day),
      credential,
      operation,
      outcome,
      requests,
    })),
  };
}

function date(day: number): string {
  return iso(utcDayStart(day)).slice(0, 10);
}
