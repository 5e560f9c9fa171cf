import { type LogPosition, openCursor, type Seal, sealCursor } from '../../domain/cursor.ts';
import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { NewRating, Rating, Store } from '../../storage/port/store.ts';
import type { Authorize } from '../authorize.ts';

interface RatingNeeds {
  readonly store: Pick<Store, 'rateReply' | 'listRatings' | 'listUnanswered'>;
  readonly seal: Seal;
  readonly authorize: Authorize;
}

export type ReplyRatings = ReturnType<typeof createReplyRatings>;

export function createReplyRatings({ store, seal, authorize }: RatingNeeds) {
  return { rate, listRatings, listUnanswered };

  /** Sets or (null) removes the person's rating of a reply. Anyone who may read the thread may rate its replies. */
  async function rate(
    { organizationId, authority }: UserPrincipal,
    threadId: string,
    messageId: string,
    rating: NewRating | null,
  ): Promise<void> {
    if (!isThreadId(threadId)) throw threadNotFound();
    const write = store.rateReply(organizationId, threadId, messageId, rating, authority);
    const outcome = await authorize(authority, write);
    if (outcome === 'missing') throw threadNotFound();
  }

  async function listRatings({ organizationId, userId }: UserPrincipal, threadId: string): Promise<Rating[]> {
    return isThreadId(threadId) ? store.listRatings(organizationId, threadId, userId) : [];
  }

  /** Latest first. Being an admin does not open other people's threads (§4.2). A page may be empty although more follow. */
  async function listUnanswered(
    { organizationId, userId }: UserPrincipal,
    { cursor, limit }: { readonly cursor?: string; readonly limit: number },
  ) {
    const listing = ['unanswered', organizationId, userId];
    const before = openCursor<LogPosition>(seal, listing, cursor);
    const { rows, next } = await store.listUnanswered(organizationId, userId, { limit, before });
    return { replies: rows, nextCursor: next && sealCursor(seal, listing, next) };
  }
}
