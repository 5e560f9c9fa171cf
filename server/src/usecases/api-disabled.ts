import { ServiceError } from '../domain/errors.ts';
import type { OrganizationId } from '../domain/id.ts';

/** No credential is issued to an organization outside the beta (§1). */
export function apiDisabled(organizationId: OrganizationId): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    `The public API is not enabled for ${organizationId}: 'skein org set ${organizationId} --api on' enables it.`,
  );
}
