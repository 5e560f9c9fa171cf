import { openPosition, sealPosition } from '../../domain/cursor.ts';
import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { NewRating, Rating } from '../../storage/store.ts';
import type { Context } from '../context.ts';

/** Sets or (null) removes the person's rating of a reply. Anyone who may read the thread may rate its replies. */
export async function rateReply(
  { store }: Context,
  { organizationId, userId }: UserPrincipal,
  threadId: string,
  messageId: string,
  rating: NewRating | null,
): Promise<void> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const outcome = await store.rateReply(organizationId, threadId, messageId, userId, rating);
  if (outcome === 'missing') throw threadNotFound();
}

export async function listRatings(
  { store }: Context,
  { organizationId, userId }: UserPrincipal,
  threadId: string,
): Promise<Rating[]> {
  return isThreadId(threadId) ? store.listRatings(organizationId, threadId, userId) : [];
}

/**
 * Replies that found no answer or were rated down, latest first, in threads that the person may read: being an admin
 * does not open other people's threads (§4.2). A page may be empty although more follow.
 */
export async function listUnanswered(
  { store, seal }: Context,
  { organizationId, userId }: UserPrincipal,
  { cursor, limit }: { readonly cursor?: string; readonly limit: number },
) {
  const listing = JSON.stringify(['unanswered', organizationId, userId]);
  const page = { limit, ...(cursor !== undefined && { before: openPosition(seal, listing, cursor) }) };
  const { rows, next } = await store.listUnanswered(organizationId, userId, page);
  return { replies: rows, nextCursor: next && sealPosition(seal, listing, next) };
}
