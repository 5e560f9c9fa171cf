import { forbidden, type ServiceError, threadNotFound } from './errors.ts';
import type { OrganizationId, UserId } from './id.ts';
import type { Thread } from './thread.ts';

/** The person (or service account) a personal key acts for. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  /**
   * SHA-256 of the personal key, in hexadecimal, which every write checks again in its own transaction. Null for a
   * person in the console, whose session is checked once the body has arrived.
   */
  readonly keyHash: string | null;
}

/** The one service identity that org-wide keys and applications share (§5.2). */
interface ServicePrincipal {
  readonly kind: 'service';
  readonly organizationId: OrganizationId;
}

export type Principal = UserPrincipal | ServicePrincipal;

/** §4.2: users read their own and published threads, the service identity published ones. Deleted threads are hidden. */
export function canRead(principal: Principal, thread: Thread): boolean {
  if (thread.organizationId !== principal.organizationId) return false;
  return canBeReadBy(thread, principal.kind === 'user' ? principal.userId : null);
}

/** The same within an organization: by the user, or (null) by the service identity. */
export function canBeReadBy(thread: Thread, userId: UserId | null): boolean {
  return thread.deletedAt === null && (thread.published || thread.userId === userId);
}

export function isCreator(principal: Principal, thread: Thread): boolean {
  return principal.kind === 'user' && principal.userId === thread.userId;
}

/**
 * The error for a change by a caller who did not create the thread (§7): an unreadable thread is not found, a readable one
 * is forbidden. `action` completes "Only the creator of a thread can …".
 */
export function changeRefused(
  principal: Principal,
  thread: Thread | undefined,
  action: string,
): ServiceError {
  if (thread === undefined || !canRead(principal, thread)) return threadNotFound();
  return forbidden(`Only the creator of a thread can ${action}.`);
}
