import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import { deriveThreadStatus, type Message, type ThreadStatus } from '../../domain/message.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import { canRead } from '../../domain/visibility.ts';
import type { Reader } from '../../storage/store.ts';
import type { Context } from '../context.ts';

export interface ThreadWithMessages {
  readonly thread: Thread;
  /** Of another version, it says something else. */
  readonly version: number;
  readonly messages: readonly Message[];
  readonly status: ThreadStatus;
}

export async function getThread(
  { store }: Context,
  principal: Principal,
  threadId: string,
): Promise<ThreadWithMessages> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const found = await store.getThread(principal.organizationId, threadId, readerOf(principal));
  if (found === undefined || !canRead(principal, found.thread)) throw threadNotFound();
  return { ...found, status: deriveThreadStatus(found.messages) };
}

/** The version that `getThread` would answer now. It loads no message. */
export async function getThreadVersion(
  { store }: Context,
  principal: Principal,
  threadId: string,
): Promise<number> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const version = await store.threadVersion(principal.organizationId, threadId, readerOf(principal));
  if (version === undefined) throw threadNotFound();
  return version;
}

export function readerOf(principal: Principal): Reader {
  return { userId: principal.kind === 'user' ? principal.userId : null };
}
