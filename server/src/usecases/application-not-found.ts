import { ServiceError } from '../domain/errors.ts';

export function applicationNotFound(applicationId: string): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    `The organization has no application ${applicationId}: 'skein app list' shows those it has.`,
  );
}
