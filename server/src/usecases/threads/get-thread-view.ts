import type { UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Context } from '../context.ts';
import { loadReplyOrigins, type ReplyOrigins } from '../replies/reply-origins.ts';
import { getThread, type ThreadWithMessages } from './get-thread.ts';

/** A thread as the console shows it to one person. */
export interface ThreadView extends ThreadWithMessages {
  readonly mine: boolean;
  /** The creator's address; null once they have left. */
  readonly createdBy: string | null;
  /** Empty unless the person created the thread. */
  readonly origins: ReplyOrigins;
}

export async function getThreadView(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
): Promise<ThreadView> {
  const found = await getThread(context, principal, threadId);
  const { organizationId, id } = found.thread;
  const [createdBy, origins] = await Promise.all([
    loadCreator(context, found.thread),
    loadReplyOrigins(context.store, organizationId, id),
  ]);
  return viewFor(principal, { ...found, createdBy, origins });
}

/** The address of the thread's creator; null once they have left. */
export async function loadCreator(
  { store }: Context,
  { organizationId, userId }: Thread,
): Promise<string | null> {
  return (await store.findMemberById(organizationId, userId))?.email ?? null;
}

export function viewFor(principal: UserPrincipal, loaded: Omit<ThreadView, 'mine'>): ThreadView {
  const mine = loaded.thread.userId === principal.userId;
  return { ...loaded, mine, origins: mine ? loaded.origins : new Map() };
}
