import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ReplyName } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { readerOf } from '../threads/get-thread.ts';

/** The running reply of a thread that the principal may read; undefined if none is running. */
export async function findRunningReply(
  { store }: Context,
  principal: Principal,
  threadId: string,
): Promise<ReplyName | undefined> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const { organizationId } = principal;
  const messageId = await store.findRunningReply(organizationId, threadId, readerOf(principal));
  if (messageId === undefined) throw threadNotFound();
  return messageId === null ? undefined : { organizationId, threadId, messageId };
}

/** Waits until the reply has ended, or `until` aborts. Waiting costs only an entry in memory. */
export async function waitForReply(
  context: Context,
  principal: Principal,
  reply: ReplyName,
  until: AbortSignal,
): Promise<void> {
  if (until.aborted) return;
  const { replySignals, telemetry } = context;
  telemetry.readsWaiting(1);
  await new Promise<void>((resolve, reject) => {
    const unwatch = replySignals.watch(reply, resolve);
    const stop = () => {
      unwatch();
      resolve();
    };
    until.addEventListener('abort', stop, { once: true });
    // It may have ended after it was read and before it was watched.
    findRunningReply(context, principal, reply.threadId).then(
      (running) => {
        if (running?.messageId !== reply.messageId) stop();
      },
      (error) => {
        unwatch();
        reject(error);
      },
    );
  }).finally(() => telemetry.readsWaiting(-1));
}
