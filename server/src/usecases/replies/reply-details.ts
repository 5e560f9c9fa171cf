import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { Message } from '../../domain/message.ts';
import type { ReplyDetails, Store } from '../../storage/store.ts';

/** What the console shows of each reply besides its message. `traceId` and `failure` are for the thread's creator only. */
type DetailsByReply = ReadonlyMap<MessageId, Partial<ReplyDetails>>;

/** Messages, and what the console shows besides them. */
export interface MessagesView {
  readonly messages: readonly Message[];
  readonly details: DetailsByReply;
}

export async function loadReplyDetails(
  store: Store,
  organizationId: OrganizationId,
  threadId: ThreadId,
  ids?: readonly MessageId[],
): Promise<DetailsByReply> {
  const details = await store.listReplyDetails(organizationId, threadId, ids);
  return new Map(details.map((one) => [one.messageId, one]));
}

/** The creator of the thread sees all details. Other readers see only the verdicts. */
export function visibleDetails(mine: boolean, details: DetailsByReply): DetailsByReply {
  if (mine) return details;
  return new Map([...details].map(([messageId, { verdict }]) => [messageId, { verdict: verdict ?? null }]));
}
