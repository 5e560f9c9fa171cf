import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { withCommand } from '../organization/operator.ts';

/** No credential is issued to an organization outside the beta (§1). */
export function apiDisabled(organizationId: OrganizationId, initiator: Initiator): ServiceError {
  const fact = `The public API is not enabled for ${organizationId}`;
  return new ServiceError(
    'FORBIDDEN',
    withCommand(initiator, fact, `'skein org set ${organizationId} --api on' enables it`),
  );
}
