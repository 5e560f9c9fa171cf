import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import { withCommand } from '../organization/audit-log.ts';

export function applicationNotFound(applicationId: string, initiator: Initiator): ServiceError {
  const fact = `The organization has no application ${applicationId}`;
  return new ServiceError('NOT_FOUND', withCommand(initiator, fact, "'skein app list' shows those it has"));
}
