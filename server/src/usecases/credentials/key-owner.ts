import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import type { Member } from '../../domain/organization.ts';

/** Whose keys are meant: everybody's and the org-wide ones, or those of one member. */
export type KeyOwners = 'all' | UserId;

/** Whose keys, and what was done with them, a member may see and revoke. */
export function keyOwnersFor({ role, userId }: Pick<Member, 'role' | 'userId'>): KeyOwners {
  return role === 'admin' ? 'all' : userId;
}

/**
 * Throws unless the initiator may make a key for the owner. A key acts as its owner: whoever holds a person's key can read
 * their threads, so that only the operator, who can read everything, makes one for somebody else. A service account is
 * nobody's.
 */
export function assertMayOwnKey({ actor }: Initiator, owner: Pick<Member, 'userId' | 'service'>): void {
  if (actor.kind === 'operator' || owner.service) return;
  if (actor.kind === 'user' && actor.userId === owner.userId) return;
  throw new ServiceError(
    'FORBIDDEN',
    'You can create and rotate keys for yourself and for service accounts, not for another person.',
  );
}
