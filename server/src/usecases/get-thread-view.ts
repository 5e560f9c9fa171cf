import type { MessageId } from '../domain/id.ts';
import type { ReplyOrigin } from '../storage/store.ts';
import type { Context } from './context.ts';
import { getThread, type ThreadWithMessages } from './get-thread.ts';
import type { EnteredSession } from './read-session.ts';

/** A person who looks at threads. */
export type Viewer = Pick<EnteredSession, 'session' | 'principal'>;

/** A thread as the console shows it to one person. */
export interface ThreadView extends ThreadWithMessages {
  readonly mine: boolean;
  /** The creator's address; null once they have left. */
  readonly createdBy: string | null;
  /** Where its replies come from; none unless the viewer created the thread. */
  readonly origins: ReadonlyMap<MessageId, ReplyOrigin>;
}

export async function getThreadView(context: Context, viewer: Viewer, threadId: string): Promise<ThreadView> {
  return viewOf(context, viewer, await getThread(context, viewer.principal, threadId));
}

/** `createdBy` where it is known already. */
export async function viewOf(
  context: Context,
  { principal, session }: Viewer,
  found: ThreadWithMessages,
  createdBy?: string | null,
): Promise<ThreadView> {
  const mine = found.thread.userId === principal.userId;
  if (mine) return { ...found, mine, createdBy: session.email, origins: await originsOf(context, found) };
  const known = createdBy === undefined ? await creatorOf(context, found) : createdBy;
  return { ...found, mine, createdBy: known, origins: noOrigins };
}

const noOrigins: ReadonlyMap<MessageId, ReplyOrigin> = new Map();

async function originsOf({ store }: Context, { thread }: ThreadWithMessages) {
  const origins = await store.listReplyOrigins(thread.organizationId, thread.id);
  return new Map(origins.map((origin) => [origin.messageId, origin]));
}

async function creatorOf({ store }: Context, { thread }: ThreadWithMessages): Promise<string | null> {
  const creator = await store.findMemberById(thread.organizationId, thread.userId);
  return creator?.email ?? null;
}
