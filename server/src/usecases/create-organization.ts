import { ServiceError } from '../domain/errors.ts';
import type { OrganizationId } from '../domain/id.ts';
import { nameFault } from '../domain/text.ts';
import type { Context } from './context.ts';

export async function createOrganization(
  { store, ids, settings }: Context,
  {
    name,
    apiEnabled = true,
    dailyQuota = settings.dailyQuota,
  }: {
    name: string;
    apiEnabled?: boolean | undefined;
    dailyQuota?: number | undefined;
  },
): Promise<OrganizationId> {
  const fault = nameFault(name, 1, 255);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `The organization's name ${fault}.`);
  const id = ids.organization();
  await store.createOrganization({ id, name, apiEnabled, dailyQuota });
  return id;
}
