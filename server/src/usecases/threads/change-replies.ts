import { counted, formatBytes } from '../../../../runtime/src/pure/text.ts';
import { invalid, threadNotFound } from '../../domain/errors.ts';
import { type IdGenerator, isThreadId, type MessageId, type ThreadId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import { changeRefused, type UserPrincipal } from '../../domain/principal.ts';
import type { ReplyName, Store } from '../../storage/port/store.ts';
import type { UserChange } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import type { ThreadReads } from './get-thread.ts';

interface ReplyChangeNeeds {
  readonly store: Pick<Store, 'addReply' | 'cancelReplies'>;
  readonly ids: Pick<IdGenerator, 'message'>;
  readonly limits: Pick<Limits, 'replyDeadlineMs' | 'threadMessagesMax' | 'threadBytesMax'>;
  readonly reads: Pick<ThreadReads, 'findOwn'>;
  readonly replySignals: { replyWaiting(): void };
  readonly threadSignals: { changed(threadId: ThreadId): void };
  readonly repliesCancelled: (replies: readonly ReplyName[]) => void;
  readonly authorize: Authorize;
}

export type ReplyChanges = ReturnType<typeof createReplyChanges>;

export function createReplyChanges(needs: ReplyChangeNeeds) {
  const { store, ids, limits, reads, replySignals, threadSignals, repliesCancelled, authorize } = needs;
  return { add, cancel };

  /**
   * Adds a prompt and its reply, or without a prompt another reply to the last one. With `replaces`, the id of the last
   * prompt, models no longer see that one. Only the thread's creator may do this, and only one reply may run at a time.
   */
  async function add(
    { principal, initiator: { traceId } }: UserChange,
    threadId: string,
    content?: string,
    replaces?: string,
  ): Promise<void> {
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
    const result = await authorize(authority, store.addReply(organizationId, threadId, reply, authority));
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
  async function cancel(principal: UserPrincipal, threadId: string): Promise<void> {
    const { organizationId, id } = await reads.findOwn(principal, threadId, 'stop its reply');
    const { authority } = principal;
    const cancelled = await authorize(authority, store.cancelReplies(organizationId, id, authority));
    const replies = cancelled.map((messageId) => ({ organizationId, threadId: id, messageId }));
    repliesCancelled(replies);
  }
}
