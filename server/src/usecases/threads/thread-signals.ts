import type { ThreadId } from '../../domain/id.ts';

/**
 * Says, within this process and at once, that a thread has changed. A hint and no more: whoever follows a thread looks for
 * itself, and looks without a hint now and then, since other processes write, too. The end of a reply is told by
 * `ReplySignals`, on every node.
 */
export class ThreadSignals {
  readonly #followers = new Map<ThreadId, Set<() => void>>();

  changed(threadId: ThreadId): void {
    const followers = this.#followers.get(threadId);
    if (followers !== undefined) for (const follower of [...followers]) follower();
  }

  /** Calls `changed` whenever the thread has. Answers how to stop. */
  follow(threadId: ThreadId, changed: () => void): () => void {
    // One of its own for each call: a function that follows twice is told twice, and stops once.
    const follower = () => changed();
    const followers = this.#followers.get(threadId) ?? new Set();
    this.#followers.set(threadId, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#followers.get(threadId) === followers) {
        this.#followers.delete(threadId);
      }
    };
  }

  /** Threads that somebody follows. */
  get followed(): number {
    return this.#followers.size;
  }
}
