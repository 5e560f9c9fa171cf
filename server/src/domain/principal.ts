import type { PersonAuthority } from './authority.ts';
import { forbidden, type ServiceError, threadNotFound } from './errors.ts';
import type { OrganizationId, UserId } from './id.ts';
import type { Thread } from './thread.ts';

export interface Principal {
  readonly organizationId: OrganizationId;
  /** Null for the one service identity that org-wide keys and applications share (§5.2). */
  readonly userId: UserId | null;
}

/** The person (or service account) a personal key acts for. */
export interface UserPrincipal extends Principal {
  readonly userId: UserId;
  readonly authority: PersonAuthority;
}

/** The key of limits per member. Counting by person would let one organization use up a person's limit in another. */
export function memberKey({ organizationId, userId }: UserPrincipal): string {
  return `${organizationId} ${userId}`;
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
 * The error for a change that the store refused (§7): *not found* if the caller cannot read the thread, otherwise
 * *forbidden*. For the creator it is always *not found*: the thread was deleted when the change was tried, even if it has
 * been restored since. `action` completes "Only the creator of a thread can".
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
