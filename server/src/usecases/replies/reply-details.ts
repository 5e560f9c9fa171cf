import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { ReplyDetails, Store } from '../../storage/store.ts';

/** What the console shows of each reply besides its message. `traceId` and `failure` are for the thread's creator only. */
export type DetailsByReply = ReadonlyMap<MessageId, Partial<ReplyDetails>>;

export async function loadReplyDetails(
  store: Store,
  organizationId: OrganizationId,
  threadId: ThreadId,
): Promise<DetailsByReply> {
  const details = await store.listReplyDetails(organizationId, threadId);
  return new Map(details.map((one) => [one.messageId, one]));
}

/** What everybody who reads the thread may see. */
export function publicDetails(details: DetailsByReply): DetailsByReply {
  return new Map([...details].map(([messageId, { verdict }]) => [messageId, { verdict: verdict ?? null }]));
}
