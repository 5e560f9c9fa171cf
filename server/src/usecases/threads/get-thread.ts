import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId, type OrganizationId } from '../../domain/id.ts';
import { deriveThreadStatus, type ThreadStatus } from '../../domain/message.ts';
import { canRead, type Principal, type UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Reader, WholeThread } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import type { SignedIn } from '../people/sessions.ts';
import { loadReplyDetails, type MessagesView, visibleDetails } from '../replies/reply-details.ts';

export type { WholeThread };

/** Returns the object of the store as it is. */
export async function getThread(
  { store }: Context,
  principal: Principal,
  threadId: string,
): Promise<WholeThread> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const found = await store.getThread(principal.organizationId, threadId, readerOf(principal));
  if (found === undefined || !canRead(principal, found.thread)) throw threadNotFound();
  return found;
}

/** The thread without its messages, if the principal may read it. */
export async function findReadableThread(
  { store }: Context,
  principal: Principal,
  threadId: string,
): Promise<Thread> {
  const thread = isThreadId(threadId)
    ? await store.findThread(principal.organizationId, threadId)
    : undefined;
  if (thread === undefined || !canRead(principal, thread)) throw threadNotFound();
  return thread;
}

/** The version that `getThread` would return now, without loading messages. */
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

/** The organization of a thread that the person can read, among those the session may enter: thread links do not name it. */
export async function findThreadHome(
  { store }: Context,
  { session: { userId, access } }: Pick<SignedIn, 'session'>,
  threadId: string,
): Promise<OrganizationId> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const { entered } = await store.listMemberships(userId, access);
  for (const { organizationId } of entered) {
    const version = await store.threadVersion(organizationId, threadId, { userId });
    if (version !== undefined) return organizationId;
  }
  throw threadNotFound();
}

export function readerOf(principal: Principal): Reader {
  return { userId: principal.kind === 'user' ? principal.userId : null };
}

/** A thread as the console shows it to one person, without its messages. */
export interface ThreadHeadView extends Omit<WholeThread, 'messages'> {
  readonly status: ThreadStatus;
  readonly mine: boolean;
  /** The creator's address; null once they have left. */
  readonly createdBy: string | null;
}

export type ThreadView = ThreadHeadView & MessagesView;

export async function getThreadView(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
): Promise<ThreadView> {
  const found = await getThread(context, principal, threadId);
  const { organizationId, id } = found.thread;
  const [createdBy, details] = await Promise.all([
    loadCreator(context, found.thread),
    loadReplyDetails(context.store, organizationId, id),
  ]);
  const mine = found.thread.userId === principal.userId;
  const status = deriveThreadStatus(found.messages);
  return { ...found, status, createdBy, mine, details: visibleDetails(mine, details) };
}

/** The address of the thread's creator; null once they have left. */
export async function loadCreator(
  { store }: Context,
  { organizationId, userId }: Thread,
): Promise<string | null> {
  return (await store.findMemberById(organizationId, userId))?.email ?? null;
}
