import { counted } from '../../../../runtime/src/pure/text.ts';
import { invalid, threadNotFound } from '../../domain/errors.ts';
import { isThreadId, type MessageId } from '../../domain/id.ts';
import { formatBytes } from '../../domain/limits.ts';
import { changeRefused } from '../../domain/principal.ts';
import { reportEnded } from '../../replies/index.ts';
import { authorize } from '../authorize.ts';
import type { PersonCall } from '../context.ts';
import type { UserChange } from '../organization/audit-log.ts';
import { findOwnThread } from './get-thread.ts';

/**
 * Adds a prompt and its reply, or without a prompt another reply to the last one. With `replaces`, the id of the last
 * prompt, models no longer see that one. Only the thread's creator may do this, and only one reply may run at a time.
 */
export async function addReply(
  { context, principal, initiator: { traceId } }: UserChange,
  threadId: string,
  content?: string,
  replaces?: string,
): Promise<void> {
  const { store, ids, limits, replySignals, threadSignals } = context;
  if (!isThreadId(threadId)) throw threadNotFound();
  const edited = replaces === undefined ? {} : { replaces: replaces as MessageId };
  const prompt = content === undefined ? null : { messageId: ids.message(), content, ...edited };
  const reply = {
    prompt,
    replyId: ids.message(),
    replyDeadlineMs: limits.replyDeadlineMs,
    traceId,
    budget: { messagesMax: limits.threadMessagesMax, bytesMax: limits.threadBytesMax },
  };
  const { organizationId, authority } = principal;
  const result = await authorize(
    context,
    authority,
    store.addReply(organizationId, threadId, reply, authority),
  );
  switch (result.outcome) {
    case 'added':
      replySignals.replyWaiting();
      threadSignals.changed(threadId);
      return;
    case 'running':
      throw invalid('A reply is still in progress. Wait until it finishes, or stop it.');
    case 'outdated':
      throw invalid('Only the last prompt of a thread can be edited.');
    case 'full': {
      const messages = counted(limits.threadMessagesMax, 'message');
      const limit = result.exceeded === 'messages' ? messages : formatBytes(limits.threadBytesMax);
      throw invalid(`This would exceed the thread's limit of ${limit}. Start a new thread.`);
    }
    case 'missing':
      throw threadNotFound();
    case 'refused':
      throw changeRefused(principal, result.thread, 'add prompts to it');
  }
}

/** Stops the thread's running reply, if there is one: keeps its text so far and aborts its model call. */
export async function cancelReply(call: PersonCall, threadId: string): Promise<void> {
  const { context, principal } = call;
  const { organizationId, id } = await findOwnThread(call, threadId, 'stop its reply');
  const { authority } = principal;
  const cancelled = await authorize(
    context,
    authority,
    context.store.cancelReplies(organizationId, id, authority),
  );
  const replies = cancelled.map((messageId) => ({ organizationId, threadId: id, messageId }));
  reportEnded(context, 'cancelled', replies);
}
