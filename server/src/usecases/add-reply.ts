import { ServiceError, threadNotFound } from '../domain/errors.ts';
import { isThreadId } from '../domain/id.ts';
import type { UserPrincipal } from '../domain/principal.ts';
import { canRead } from '../domain/visibility.ts';
import type { NewReply } from '../storage/store.ts';
import type { Context } from './context.ts';

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
    case 'missing':
      throw threadNotFound();
    case 'refused':
      // As for a rename: unreadable is not found, readable but another's is forbidden (§7).
      if (!canRead(principal, result.thread)) throw threadNotFound();
      throw new ServiceError('FORBIDDEN', 'Only the creator of a thread can ask in it.');
  }
}
