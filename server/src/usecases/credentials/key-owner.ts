import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import type { Member } from '../../domain/organization.ts';

/** A selection of keys: all of the organization, or those of one member. */
export type KeyOwners = 'all' | UserId;

/** The keys, and their usage, that a member may see and revoke. */
export function keyOwnersFor({ role, userId }: Pick<Member, 'role' | 'userId'>): KeyOwners {
  return role === 'admin' ? 'all' : userId;
}

/**
 * Throws unless the initiator may create a key for the owner. A person's key can read all threads of that person, so
 * only the operator, who can read everything anyway, may create one for somebody else. Any admin may create keys for
 * service accounts.
 */
export function assertMayOwnKey({ actor }: Initiator, owner: Pick<Member, 'userId' | 'service'>): void {
  if (actor.kind === 'operator' || owner.service) return;
  if (actor.kind === 'user' && actor.userId === owner.userId) return;
  throw new ServiceError(
    'FORBIDDEN',
    'You can create and rotate keys for yourself and for service accounts, not for another person.',
  );
}
