import type { MessageId, OrganizationId, ThreadId, UserId } from '../domain/id.ts';

export interface NewRating {
  readonly value: 'up' | 'down';
  readonly comment: string | null;
}

export interface Rating extends NewRating {
  readonly messageId: MessageId;
}

/** A reply that found no answer or that a person rated down, and the prompt that it answers. */
export interface UnansweredReply {
  readonly threadId: ThreadId;
  readonly messageId: MessageId;
  readonly title: string;
  readonly accountId: string | null;
  /** The address of the thread's creator, or null if they are no longer a member. */
  readonly askedBy: string | null;
  readonly unansweredAt: number;
  /** The start of the prompt and of the reply, at most 500 characters. */
  readonly prompt: string;
  readonly reply: string;
  /** The newest ratings with thumbs down, at most 5. Empty if the reply itself found no answer. */
  readonly complaints: readonly Complaint[];
}

export interface Complaint {
  /** Null if the person is no longer a member. */
  readonly email: string | null;
  readonly comment: string | null;
  readonly ratedAt: number;
}

export interface UnansweredPosition {
  readonly at: number;
  readonly messageId: string;
}

export interface Ratings {
  /**
   * Sets or (null) removes the person's rating of a reply. One person has one rating per reply. `missing`: the person may
   * not read the thread, or it has no such reply that has ended.
   */
  rateReply(
    organizationId: OrganizationId,
    threadId: ThreadId,
    messageId: string,
    userId: UserId,
    rating: NewRating | null,
  ): Promise<'done' | 'missing'>;
  /** The person's own ratings in the thread; empty if they may not read it. */
  listRatings(organizationId: OrganizationId, threadId: ThreadId, userId: UserId): Promise<Rating[]>;
  /**
   * Replies without an answer in threads that the user may read, latest first. The cost is bounded: a page may have fewer
   * rows than `limit`, or none, although more follow. `next` is null at the end.
   */
  listUnanswered(
    organizationId: OrganizationId,
    userId: UserId,
    page: { readonly before?: UnansweredPosition; readonly limit: number },
  ): Promise<{ rows: UnansweredReply[]; next: UnansweredPosition | null }>;
}
