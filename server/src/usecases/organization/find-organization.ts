import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Organization } from '../../domain/organization.ts';
import type { Context } from '../context.ts';

/** By id, or by a name that only one organization bears. */
export async function findOrganization({ store }: Context, idOrName: string): Promise<Organization> {
  const organization = await store.findOrganization(idOrName);
  if (organization === undefined) {
    throw new ServiceError(
      'NOT_FOUND',
      `No organization, or more than one, is called ${idOrName}: 'skein org list' shows their ids.`,
    );
  }
  return organization;
}

export function organizationNotFound(organizationId: OrganizationId): ServiceError {
  return new ServiceError('NOT_FOUND', `There is no organization ${organizationId}.`);
}
