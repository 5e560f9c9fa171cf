import type { MessageId } from '../domain/id.ts';
import type { ReplyName } from '../storage/store.ts';

interface Watch {
  readonly reply: ReplyName;
  readonly ended: () => void;
}

/**
 * What happens to replies, told within this process the moment it is committed. What other processes do is found out by
 * `tendReplies`, a little later, and told here, too.
 */
export class ReplySignals {
  readonly #watches = new Map<MessageId, Set<Watch>>();
  #startWorking: () => void = () => {};

  /** Says that a reply may be waiting to be written. */
  replyWaiting(): void {
    this.#startWorking();
  }

  /** What to do about it; the last one counts. */
  onReplyWaiting(startWorking: () => void): void {
    this.#startWorking = startWorking;
  }

  /** Calls `ended`, once, when the reply has ended. Answers how to stop watching. */
  watch(reply: ReplyName, ended: () => void): () => void {
    const watch = { reply, ended };
    const watches = this.#watches.get(reply.messageId) ?? new Set();
    this.#watches.set(reply.messageId, watches.add(watch));
    return () => {
      watches.delete(watch);
      if (watches.size === 0 && this.#watches.get(reply.messageId) === watches) {
        this.#watches.delete(reply.messageId);
      }
    };
  }

  replyEnded({ organizationId, messageId }: ReplyName): void {
    const watches = this.#watches.get(messageId);
    if (watches === undefined) return;
    for (const watch of [...watches]) {
      if (watch.reply.organizationId !== organizationId) continue;
      watches.delete(watch);
      watch.ended();
    }
    if (watches.size === 0) this.#watches.delete(messageId);
  }

  /** Each once, however many watch it. */
  watched(): ReplyName[] {
    const replies: ReplyName[] = [];
    for (const [watch] of this.#watches.values()) if (watch !== undefined) replies.push(watch.reply);
    return replies;
  }
}
