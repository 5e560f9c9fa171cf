import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Telemetry } from '../../domain/telemetry.ts';
import type { ReplyName, Store } from '../../storage/port/store.ts';

interface ReplyWaitNeeds {
  readonly store: Pick<Store, 'findRunningReply'>;
  /** Calls `ended` once when the reply has ended. Returns a function that stops watching. */
  readonly watchReply: (reply: ReplyName, ended: () => void) => () => void;
  readonly telemetry: Pick<Telemetry, 'readsWaiting'>;
}

export type ReplyWaits = ReturnType<typeof createReplyWaits>;

export function createReplyWaits({ store, watchReply, telemetry }: ReplyWaitNeeds) {
  return { findRunning, waitUntilEnded };

  /** The running reply of a thread that the principal may read; undefined if none is running. */
  async function findRunning(principal: Principal, threadId: string): Promise<ReplyName | undefined> {
    if (!isThreadId(threadId)) throw threadNotFound();
    const { organizationId } = principal;
    const messageId = await store.findRunningReply(organizationId, threadId, principal);
    if (messageId === undefined) throw threadNotFound();
    return messageId === null ? undefined : { organizationId, threadId, messageId };
  }

  /** Waits until the reply has ended, or `until` aborts. Waiting costs only an entry in memory. */
  async function waitUntilEnded(principal: Principal, reply: ReplyName, until: AbortSignal): Promise<void> {
    if (until.aborted) return;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const unwatch = watchReply(reply, end);
    until.addEventListener('abort', () => end(), { once: true });
    telemetry.readsWaiting(1);
    // It may have ended after it was read and before it was watched.
    const checked = findRunning(principal, reply.threadId).then((running) =>
      running?.messageId === reply.messageId ? ended : undefined,
    );
    await Promise.race([ended, checked]).finally(() => {
      unwatch();
      telemetry.readsWaiting(-1);
    });
  }
}
