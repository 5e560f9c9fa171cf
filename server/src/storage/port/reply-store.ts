import type { OwnAuthority, PersonAuthority } from '../../domain/authority.ts';
import type { LogPosition } from '../../domain/cursor.ts';
import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { Source, Step, Verdict } from '../../domain/message.ts';
import type { RunningStatus, TerminalStatus } from '../../domain/reply.ts';
import type { AuditNote, AuthorizedMethod, InOrganization } from './log-store.ts';

export interface ReplyName {
  readonly organizationId: OrganizationId;
  readonly threadId: ThreadId;
  readonly messageId: MessageId;
}

/** A reply that the store failed, why, and the trace ID of the request that asked for it. */
export interface FailedReply extends ReplyName {
  readonly traceId: string;
  readonly failure: string;
}

/** The right to write one reply until the lease ends. Every claim has its own `token`. */
export interface ReplyClaim extends ReplyName {
  readonly token: number;
}

export interface ClaimedReply extends ReplyClaim {
  readonly accountId: string | null;
  readonly traceId: string;
  /** How many attempts have failed. Neither a released claim nor a worker that died counts. */
  readonly attempts: number;
  /** How long the reply may still take. */
  readonly remainingMs: number;
}

/** Waiting replies are in two queues: *suspects* are those that `crashesOfSuspect` workers crashed with. */
export type ReplyQueue = 'usual' | 'suspects';

export interface ReplyShare {
  readonly organizationId: OrganizationId;
  readonly limit: number;
}

export interface ReplyProgress {
  readonly status: RunningStatus;
  readonly content: string;
  readonly steps: readonly Step[];
}

export interface ReplyBacklog {
  /** 10,000 means that many or more, here and in `held`. */
  readonly waiting: number;
  readonly held: number;
  /** The age of the waiting reply that is nearest to its deadline; null if none waits. */
  readonly oldestWaitingMs: number | null;
  /** Suspects that wait or are held; 10,000 means that many or more. */
  readonly suspects: number;
}

export interface SweptReplies {
  readonly failed: readonly FailedReply[];
  /** The replies whose worker crashed. They wait again. */
  readonly crashed: readonly ReplyName[];
}

/**
 * The assistant message is the job. A running reply *waits* until it is claimed, and is *held* while a worker writes it;
 * it waits again when it is released or retried, or when its lease has ended.
 *
 * A worker that dies while it holds a reply has *crashed* with it. That costs no attempt, because other replies were there
 * too. The store counts it, and after `crashesOfSuspect` crashes the reply waits in the queue of suspects. So does every
 * later reply of its thread until one completes. The store cannot distinguish a dead worker from one that is paused or
 * disconnected: it treats a worker whose lease has ended as dead. A worker that renews late, but before a sweep has released
 * its claim, keeps it.
 *
 * Leases and deadlines keep their length when the store's clock is set forward by two seconds or more while a process
 * sweeps: before a sweep fails or releases any reply, it moves them by the jump, once for all processes.
 *
 * A write that names a claim changes nothing after a later claim, after a release, or after the reply has ended: terminal
 * states are final. Claims, renewals and progress survive a killed process, but a power cut may make the reply start over.
 */
export interface Replies {
  /**
   * Organizations with a reply in the queue (`usual` without one) that may be claimed now, in the order of their ids: those
   * after `after` first, then the others. The cost does not grow with the number of waiting replies.
   */
  organizationsWaiting(
    after: OrganizationId | undefined,
    limit: number,
    queue?: ReplyQueue,
  ): Promise<OrganizationId[]>;
  /**
   * Claims up to `limit` replies of each organization from the queue (`usual` without one), the longest waiting first, each
   * with a new token and from the start: steps and text of an earlier claim are gone. A reply past its deadline is never
   * claimed. If the call rejects, the next sweep releases what it may have claimed, without counting a crash.
   */
  claimReplies(shares: readonly ReplyShare[], leaseMs: number, queue?: ReplyQueue): Promise<ClaimedReply[]>;
  /** Extends the leases. Returns the claims that are no longer valid. */
  renewReplies(claims: readonly ReplyClaim[], leaseMs: number): Promise<ReplyClaim[]>;
  /** Returns whether the claim was still valid and the progress was written. */
  recordReplyProgress(claim: ReplyClaim, progress: ReplyProgress): Promise<boolean>;
  /** Ends the reply. Returns whether the claim was still valid. */
  settleReply(
    claim: ReplyClaim,
    result: {
      status: TerminalStatus;
      content: string;
      steps: readonly Step[];
      sources: readonly Source[] | null;
      model: string;
      verdict?: Verdict | undefined;
      /** Whether the reply found no answer. It is then listed by `listUnanswered`. */
      unanswered?: boolean;
      failure?: string;
      /** Written if the claim was still valid. */
      note?: AuditNote<OwnAuthority>;
    },
  ): Promise<boolean>;
  /**
   * Releases the claim: the reply starts over. A retry counts an attempt, and the reply may be claimed after `delayMs`. A
   * worker that is about to crash counts that itself. Returns whether the claim was still valid.
   */
  releaseReply(claim: ReplyClaim, why?: { delayMs: number; failure: string } | 'crash'): Promise<boolean>;
  /** Cancels the running reply of a thread, whoever created it. Its text stays. Returns the replies that it ended. */
  cancelReplies: AuthorizedMethod<[threadId: ThreadId], MessageId[]>;
  /**
   * Fails replies past their deadline. With `leases`, it also releases claims whose lease has ended, which counts as a crash
   * each. The caller writes the audit notes of the failed replies: there can be many at once, but rarely.
   */
  sweepReplies(sweep: { readonly leases: boolean }): Promise<SweptReplies>;
  /**
   * Ends all leases now, as a sweep does when they have ended, if the store can tell that no other worker is running. A
   * worker calls it before its first claim, and counts as running until the store is closed. Returns the replies whose
   * worker crashed.
   */
  releaseOrphanedReplies(): Promise<readonly ReplyName[]>;
  /** Those that have ended or do not exist. */
  endedReplies(replies: readonly ReplyName[]): Promise<ReplyName[]>;
  /** The running replies of all organizations. It looks at no more than 10,000 replies of a kind. */
  replyBacklog(): Promise<ReplyBacklog>;
}

export interface Notices {
  /** Sends a notice to the other nodes without a guarantee: they also poll. */
  sendNotice(notice: ReplyNotice): Promise<void>;
  /** Calls `listener` with the notices of other nodes until the store is closed. Never, if the store has no notices. */
  onNotice(listener: (notice: ReplyNotice) => void): void;
}

export interface ReplyNotice {
  /** Whether some of them may be waiting for a worker. */
  readonly waiting: boolean;
  readonly ended: readonly ReplyName[];
}

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

export interface Ratings {
  /** Sets or (null) removes the person's rating. `missing`: they may not read the thread, or it has no such ended reply. */
  rateReply: AuthorizedMethod<
    [threadId: ThreadId, messageId: string, rating: NewRating | null],
    'done' | 'missing',
    PersonAuthority
  >;
  /** The person's own ratings in the thread; empty if they may not read it. */
  listRatings: InOrganization<[threadId: ThreadId, userId: UserId], Rating[]>;
  /**
   * Replies without an answer in threads that the user may read, latest first. The cost is bounded: a page may have fewer
   * rows than `limit`, or none, although more follow. `next` is null at the end.
   */
  listUnanswered: InOrganization<
    [userId: UserId, page: { readonly before?: LogPosition | undefined; readonly limit: number }],
    { rows: UnansweredReply[]; next: LogPosition | null }
  >;
}
