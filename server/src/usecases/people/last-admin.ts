import { ServiceError } from '../../domain/errors.ts';

/** An organization that nobody could change any more would need its operator. */
export function lastAdmin(): ServiceError {
  return new ServiceError(
    'INVALID_PARAMS',
    'This is the only person who is an admin: make another member an admin first.',
  );
}
