import { ServiceError } from '../domain/errors.ts';
import type { OrganizationId } from '../domain/id.ts';
import type { Context } from './context.ts';

/** Takes effect in every running server with its next request. */
export async function changeOrganization(
  { store }: Context,
  organizationId: OrganizationId,
  change: { apiEnabled?: boolean; dailyQuota?: number },
): Promise<void> {
  const changed = await store.updateOrganization(organizationId, change);
  if (changed === undefined)
    throw new ServiceError('NOT_FOUND', `There is no organization ${organizationId}.`);
}
