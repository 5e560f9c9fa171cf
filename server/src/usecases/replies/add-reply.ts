import { ServiceError, threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import { formatBytes, type Limits } from '../../domain/limits.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { canRead } from '../../domain/visibility.ts';
import type { NewReply } from '../../storage/store.ts';
import type { Context } from '../context.ts';

/** Lets a reply be written in a thread that exists. Only the thread's creator may, and one reply at a time. */
export async function addReply(
  { store, ids, limits, replySignals, threadSignals }: Context,
  principal: UserPrincipal,
  threadId: string,
  { prompt, traceId }: Pick<NewReply, 'prompt' | 'traceId'>,
): Promise<void> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const result = await store.addReply(principal.organizationId, threadId, principal.userId, {
    prompt,
    replyId: ids.message(),
    replyDeadlineMs: limits.replyDeadlineMs,
    traceId,
    budget: { messagesMax: limits.threadMessagesMax, bytesMax: limits.threadBytesMax },
  });
  switch (result.outcome) {
    case 'added':
      replySignals.replyWaiting();
      threadSignals.changed(threadId);
      return;
    case 'running':
      throw new ServiceError('INVALID_PARAMS', 'A reply is being written: wait for its end, or stop it.');
    case 'nothing-to-retry':
      throw new ServiceError('INVALID_PARAMS', 'The last reply did not fail: ask anew instead.');
    case 'full':
      throw new ServiceError('INVALID_PARAMS', fullText(result.exceeded, limits));
    case 'missing':
      throw threadNotFound();
    case 'refused':
      // As for a rename: unreadable is not found, readable but another's is forbidden (§7).
      if (!canRead(principal, result.thread)) throw threadNotFound();
      throw new ServiceError('FORBIDDEN', 'Only the creator of a thread can ask in it.');
  }
}

function fullText(exceeded: 'messages' | 'bytes', { threadMessagesMax, threadBytesMax }: Limits): string {
  const limit =
    exceeded === 'messages'
      ? `${threadMessagesMax.toLocaleString('en')} messages`
      : formatBytes(threadBytesMax);
  return `This would take the thread beyond its limit of ${limit}. Start a new thread.`;
}
