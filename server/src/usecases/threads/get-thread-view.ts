import type { UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Context } from '../context.ts';
import { loadReplyDetails, type MessagesView, visibleDetails } from '../replies/reply-details.ts';
import { getThread, type ThreadWithMessages } from './get-thread.ts';

/** A thread as the console shows it to one person, without its messages. */
export interface ThreadHeadView extends Omit<ThreadWithMessages, 'messages'> {
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
  return { ...found, createdBy, mine, details: visibleDetails(mine, details) };
}

/** The address of the thread's creator; null once they have left. */
export async function loadCreator(
  { store }: Context,
  { organizationId, userId }: Thread,
): Promise<string | null> {
  return (await store.findMemberById(organizationId, userId))?.email ?? null;
}
