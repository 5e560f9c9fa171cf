import type { Principal } from './principal.ts';
import type { Thread } from './thread.ts';

/** §4.2: own threads and published ones for a user, published ones for the service identity, deleted ones for nobody. */
export function canRead(principal: Principal, thread: Thread): boolean {
  if (thread.deletedAt !== null || thread.organizationId !== principal.organizationId) return false;
  return thread.published || isCreator(principal, thread);
}

function isCreator(principal: Principal, thread: Thread): boolean {
  return principal.kind === 'user' && principal.userId === thread.userId;
}
