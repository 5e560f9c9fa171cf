import type { OrganizationId } from '../domain/id.ts';
import { type QuotaUse, secondsUntilReset, utcDay } from '../domain/quota.ts';
import type { Context } from './context.ts';

export interface MeteredUse extends QuotaUse {
  readonly resetSeconds: number;
}

/** Counts one request against today's quota (§8). Whether it was granted is the answer, not an error. */
export async function consumeQuota(context: Context, organizationId: OrganizationId): Promise<MeteredUse> {
  const now = context.now();
  const use = await context.store.consumeQuota(organizationId, utcDay(now));
  return { ...use, resetSeconds: secondsUntilReset(now) };
}
