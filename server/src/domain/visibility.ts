import { ServiceError, threadNotFound } from './errors.ts';
import type { Principal } from './principal.ts';
import type { Thread } from './thread.ts';

/** §4.2: users read their own and published threads, the service identity published ones. Deleted threads are hidden. */
export function canRead(principal: Principal, thread: Thread): boolean {
  if (thread.deletedAt !== null || thread.organizationId !== principal.organizationId) return false;
  return thread.published || isCreator(principal, thread);
}

export function isCreator(principal: Principal, thread: Thread): boolean {
  return principal.kind === 'user' && principal.userId === thread.userId;
}

/**
 * The error for a change by somebody who did not create the thread (§7): an unreadable thread is not found, a readable one
 * is forbidden. `action` completes "Only the creator of a thread can …".
 */
export function changeRefused(
  principal: Principal,
  thread: Thread | undefined,
  action: string,
): ServiceError {
  if (thread === undefined || !canRead(principal, thread)) return threadNotFound();
  return new ServiceError('FORBIDDEN', `Only the creator of a thread can ${action}.`);
}
