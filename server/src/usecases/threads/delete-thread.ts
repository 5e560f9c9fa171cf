import type { Initiator } from '../../domain/audit.ts';
import { ServiceError, threadNotFound } from '../../domain/errors.ts';
import { isThreadId, type ThreadId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { canRead } from '../../domain/visibility.ts';
import type { Context } from '../context.ts';
import { refuseWrite } from '../credentials/authenticate.ts';
import { auditNote } from '../organization/audit-log.ts';

export async function deleteThread(
  context: Context,
  principal: UserPrincipal,
  initiator: Initiator,
  threadId: string,
): Promise<ThreadId> {
  const { store, replySignals, threadSignals, telemetry } = context;
  const { organizationId } = principal;
  if (!isThreadId(threadId)) throw threadNotFound();
  const note = auditNote(context, initiator, 'thread.deleted', threadId);
  const result = await store.deleteThread(organizationId, threadId, principal, note);
  if (result.outcome === 'deleted') {
    for (const messageId of result.cancelled)
      replySignals.replyEnded({ organizationId, threadId, messageId });
    threadSignals.changed(threadId);
    telemetry.repliesEnded('cancelled', result.cancelled.length);
    return threadId;
  }
  if (result.outcome === 'revoked') return refuseWrite(context, principal);
  // As for a rename: unreadable is not found, readable but another's is forbidden (§7).
  if (result.outcome === 'missing' || !canRead(principal, result.thread)) throw threadNotFound();
  throw new ServiceError('FORBIDDEN', 'Only the creator of a thread can delete it.');
}
