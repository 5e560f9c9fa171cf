import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { getThread } from './get-thread.ts';

/** How long a deletion can be taken back. */
export const undoMs = 600_000;

/** Takes a deletion back. For all but the thread's creator, and later, the thread is as gone as it was. */
export async function restoreThread(
  context: Context,
  principal: UserPrincipal,
  initiator: Initiator,
  threadId: string,
): Promise<Thread> {
  const { organizationId, userId } = principal;
  if (!isThreadId(threadId)) throw gone();
  const note = auditNote(context, initiator, 'thread.restored', threadId);
  const outcome = await context.store.restoreThread(organizationId, threadId, userId, undoMs, note);
  if (outcome === 'missing') throw gone();
  context.threadSignals.changed(threadId);
  return (await getThread(context, principal, threadId)).thread;
}

/** The same for all that cannot be restored, whether it never existed or was removed for good. */
function gone(): ServiceError {
  const sentence = 'There is no such thread, or its deletion can no longer be undone.';
  return new ServiceError('NOT_FOUND', sentence);
}
