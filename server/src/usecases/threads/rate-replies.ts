import { type LogPosition, openCursor, sealCursor } from '../../domain/cursor.ts';
import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import type { NewRating, Rating } from '../../storage/port/store.ts';
import { authorize } from '../authorize.ts';
import type { PersonCall } from '../context.ts';

/** Sets or (null) removes the person's rating of a reply. Anyone who may read the thread may rate its replies. */
export async function rateReply(
  { context, principal: { organizationId, authority } }: PersonCall,
  threadId: string,
  messageId: string,
  rating: NewRating | null,
): Promise<void> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const write = context.store.rateReply(organizationId, threadId, messageId, rating, authority);
  const outcome = await authorize(context, authority, write);
  if (outcome === 'missing') throw threadNotFound();
}

export async function listRatings({ context, principal }: PersonCall, threadId: string): Promise<Rating[]> {
  const { organizationId, userId } = principal;
  return isThreadId(threadId) ? context.store.listRatings(organizationId, threadId, userId) : [];
}

/** Latest first. Being an admin does not open other people's threads (§4.2). A page may be empty although more follow. */
export async function listUnanswered(
  { context: { store, seal }, principal: { organizationId, userId } }: PersonCall,
  { cursor, limit }: { readonly cursor?: string; readonly limit: number },
) {
  const listing = ['unanswered', organizationId, userId];
  const before = openCursor<LogPosition>(seal, listing, cursor);
  const { rows, next } = await store.listUnanswered(organizationId, userId, { limit, before });
  return { replies: rows, nextCursor: next && sealCursor(seal, listing, next) };
}
