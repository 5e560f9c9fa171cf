import { forbidden, type ServiceError, threadNotFound } from './errors.ts';
import type { OrganizationId, UserId } from './id.ts';
import type { Thread } from './thread.ts';

export interface Principal {
  readonly organizationId: OrganizationId;
  /** Null for the one service identity that org-wide keys and applications share (§5.2). */
  readonly userId: UserId | null;
  /**
   * SHA-256 of the API key, in hexadecimal, which every write checks again in its own transaction. Null for an
   * application, and for a person in the console, whose session is checked once the body has arrived.
   */
  readonly keyHash: string | null;
}

/** The person (or service account) a personal key acts for. */
export interface UserPrincipal extends Principal {
  readonly userId: UserId;
}

/** §4.2: users read their own and published threads, the service identity published ones. Deleted threads are hidden. */
export function canRead({ organizationId, userId }: Principal, thread: Thread): boolean {
  return thread.organizationId === organizationId && canBeReadBy(thread, userId);
}

/** The same within an organization. */
export function canBeReadBy(thread: Thread, userId: UserId | null): boolean {
  return thread.deletedAt === null && (thread.published || thread.userId === userId);
}

/**
 * §7: an unreadable thread is not found, a readable one forbidden. `action`: what only the creator of a thread can do. The
 * creator's own thread was deleted when the change was tried, and has been restored since.
 */
export function changeRefused(
  principal: Principal,
  thread: Thread | undefined,
  action: string,
): ServiceError {
  const isOwn = thread?.userId === principal.userId;
  if (thread === undefined || isOwn || !canRead(principal, thread)) return threadNotFound();
  return forbidden(`Only the creator of a thread can ${action}.`);
}
