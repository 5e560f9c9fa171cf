import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { ReplyOrigin, Store } from '../../storage/store.ts';

/** Where the replies of a thread come from. Only the creator of the thread may see it. */
export type ReplyOrigins = ReadonlyMap<MessageId, ReplyOrigin>;

export async function loadReplyOrigins(
  store: Store,
  organizationId: OrganizationId,
  threadId: ThreadId,
): Promise<ReplyOrigins> {
  const origins = await store.listReplyOrigins(organizationId, threadId);
  return new Map(origins.map((origin) => [origin.messageId, origin]));
}
