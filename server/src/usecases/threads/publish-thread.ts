import type { Initiator } from '../../domain/audit.ts';
import { ServiceError, threadNotFound } from '../../domain/errors.ts';
import { isThreadId, type OrganizationId, type ThreadId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import { changeRefused, isCreator } from '../../domain/visibility.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { findReadableThread } from './get-thread.ts';

/** For the operator: publishes or unpublishes any thread. It does not change `updatedAt` (§2.1). */
export async function publishThread(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  threadId: string,
  published: boolean,
): Promise<void> {
  if (
    !isThreadId(threadId) ||
    !(await setPublished(context, organizationId, initiator, threadId, published))
  ) {
    throw new ServiceError(
      'NOT_FOUND',
      `The organization has no thread ${threadId}: check the id and the organization.`,
    );
  }
}

/** For the thread's creator. */
export async function publishOwnThread(
  context: Context,
  principal: UserPrincipal,
  initiator: Initiator,
  threadId: string,
  published: boolean,
): Promise<Thread> {
  const thread = await findReadableThread(context, principal, threadId);
  if (!isCreator(principal, thread)) throw changeRefused(principal, thread, 'publish or unpublish it');
  const done = await setPublished(context, principal.organizationId, initiator, thread.id, published);
  if (!done) throw threadNotFound();
  return { ...thread, published };
}

async function setPublished(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  threadId: ThreadId,
  published: boolean,
): Promise<boolean> {
  const action = published ? 'thread.published' : 'thread.unpublished';
  const note = auditNote(context, initiator, action, threadId);
  const outcome = await context.store.setThreadPublished(organizationId, threadId, published, note);
  if (outcome === 'missing') return false;
  context.threadSignals.changed(threadId);
  return true;
}
