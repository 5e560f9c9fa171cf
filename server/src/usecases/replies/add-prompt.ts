import { ServiceError, threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import { formatBytes, type Limits } from '../../domain/limits.ts';
import { changeRefused, type UserPrincipal } from '../../domain/principal.ts';
import type { NewReply } from '../../storage/store.ts';
import type { Context } from '../context.ts';

/** Adds a prompt to the thread. Its reply is pending once this resolves. */
export function addPrompt(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
  { prompt, traceId }: { readonly prompt: string; readonly traceId: string },
): Promise<void> {
  const messageId = context.ids.message();
  return addReply(context, principal, threadId, { prompt: { messageId, content: prompt }, traceId });
}

/** Answers the last prompt again after its reply has failed or was stopped. */
export function retryReply(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
  traceId: string,
): Promise<void> {
  return addReply(context, principal, threadId, { prompt: null, traceId });
}

/** Only the thread's creator may add a reply, and only one reply may run at a time. */
async function addReply(
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
      throw new ServiceError('INVALID_PARAMS', 'A reply is still running: wait until it ends, or stop it.');
    case 'nothing-to-retry':
      throw new ServiceError('INVALID_PARAMS', 'The last reply did not fail: send a new prompt instead.');
    case 'full':
      throw new ServiceError('INVALID_PARAMS', fullText(result.exceeded, limits));
    case 'missing':
      throw threadNotFound();
    case 'refused':
      throw changeRefused(principal, result.thread, 'add prompts to it');
  }
}

function fullText(exceeded: 'messages' | 'bytes', { threadMessagesMax, threadBytesMax }: Limits): string {
  const limit =
    exceeded === 'messages'
      ? `${threadMessagesMax.toLocaleString('en')} messages`
      : formatBytes(threadBytesMax);
  return `This would take the thread beyond its limit of ${limit}. Start a new thread.`;
}
