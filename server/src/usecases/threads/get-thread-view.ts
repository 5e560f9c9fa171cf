import type { UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Context } from '../context.ts';
import { type DetailsByReply, loadReplyDetails, publicDetails } from '../replies/reply-details.ts';
import { getThread, type ThreadWithMessages } from './get-thread.ts';

/** A thread as the console shows it to one person, without its messages. */
export interface ThreadHeadView extends Omit<ThreadWithMessages, 'messages'> {
  readonly mine: boolean;
  /** The creator's address; null once they have left. */
  readonly createdBy: string | null;
  readonly details: DetailsByReply;
}

export type ThreadView = ThreadHeadView & ThreadWithMessages;

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
  return viewFor(principal, { ...found, createdBy, details });
}

/** The address of the thread's creator; null once they have left. */
export async function loadCreator(
  { store }: Context,
  { organizationId, userId }: Thread,
): Promise<string | null> {
  return (await store.findMemberById(organizationId, userId))?.email ?? null;
}

export function viewFor<Loaded extends Omit<ThreadHeadView, 'mine'>>(
  principal: UserPrincipal,
  loaded: Loaded,
): Loaded & Pick<ThreadHeadView, 'mine'> {
  const mine = loaded.thread.userId === principal.userId;
  return { ...loaded, mine, details: mine ? loaded.details : publicDetails(loaded.details) };
}
