import { threadNotFound } from '../domain/errors.ts';
import { isThreadId } from '../domain/id.ts';
import { deriveThreadStatus, type Message, type ThreadStatus } from '../domain/message.ts';
import type { Principal } from '../domain/principal.ts';
import type { Thread } from '../domain/thread.ts';
import { canRead } from '../domain/visibility.ts';
import type { Context } from './context.ts';

export interface ThreadWithMessages {
  readonly thread: Thread;
  readonly messages: readonly Message[];
  readonly status: ThreadStatus;
}

export async function getThread(
  { store }: Context,
  principal: Principal,
  threadId: string,
): Promise<ThreadWithMessages> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const reader = { userId: principal.kind === 'user' ? principal.userId : null };
  const found = await store.getThread(principal.organizationId, threadId, reader);
  if (found === undefined || !canRead(principal, found.thread)) throw threadNotFound();
  return { ...found, status: deriveThreadStatus(found.messages) };
}
