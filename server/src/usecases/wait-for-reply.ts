import type { Context } from './context.ts';
import type { ThreadWithMessages } from './get-thread.ts';

/**
 * Waits until the reply that runs in the thread, as it was read, has ended, or `until` aborts. Nothing is held meanwhile
 * but a note in memory.
 */
export async function waitForReply(
  { store, replySignals, telemetry }: Context,
  { thread, status }: ThreadWithMessages,
  until: AbortSignal,
): Promise<void> {
  if (status.activeMessageId === null || until.aborted) return;
  const reply = {
    organizationId: thread.organizationId,
    threadId: thread.id,
    messageId: status.activeMessageId,
  };
  telemetry.readsWaiting(1);
  await new Promise<void>((resolve, reject) => {
    const unwatch = replySignals.watch(reply, resolve);
    const stop = () => {
      unwatch();
      resolve();
    };
    until.addEventListener('abort', stop, { once: true });
    // It may have ended after it was read and before it was watched.
    store.endedReplies([reply]).then((ended) => {
      if (ended.length > 0) stop();
    }, reject);
  }).finally(() => telemetry.readsWaiting(-1));
}
