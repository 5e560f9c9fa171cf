import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import type { ReplyName } from '../../storage/port/store.ts';
import type { PrincipalCall } from '../context.ts';

/** The running reply of a thread that the principal may read; undefined if none is running. */
export async function findRunningReply(
  { context: { store }, principal }: PrincipalCall,
  threadId: string,
): Promise<ReplyName | undefined> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const { organizationId } = principal;
  const messageId = await store.findRunningReply(organizationId, threadId, principal);
  if (messageId === undefined) throw threadNotFound();
  return messageId === null ? undefined : { organizationId, threadId, messageId };
}

/** Waits until the reply has ended, or `until` aborts. Waiting costs only an entry in memory. */
export async function waitForReply(call: PrincipalCall, reply: ReplyName, until: AbortSignal): Promise<void> {
  if (until.aborted) return;
  const { replySignals, telemetry } = call.context;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const unwatch = replySignals.watch(reply, end);
  until.addEventListener('abort', () => end(), { once: true });
  telemetry.readsWaiting(1);
  // It may have ended after it was read and before it was watched.
  const checked = findRunningReply(call, reply.threadId).then((running) =>
    running?.messageId === reply.messageId ? ended : undefined,
  );
  await Promise.race([ended, checked]).finally(() => {
    unwatch();
    telemetry.readsWaiting(-1);
  });
}
