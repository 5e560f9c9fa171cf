import type { MessageId, OrganizationId, ThreadId } from '../domain/id.ts';
import type { Source, Step } from '../domain/message.ts';
import type { RunningStatus, TerminalStatus } from '../domain/reply.ts';
import type { AuditNote } from './audit-store.ts';

/** One reply, by all the names it has. */
export interface ReplyName {
  readonly organizationId: OrganizationId;
  readonly threadId: ThreadId;
  readonly messageId: MessageId;
}

/** A reply that was failed at its deadline, and the request that had asked for it. */
export interface OverdueReply extends ReplyName {
  readonly traceId: string;
}

/** The right to write one reply, until the lease runs out. `token` grows with every claim of the same reply. */
export interface ReplyClaim extends ReplyName {
  readonly token: number;
}

export interface ClaimedReply extends ReplyClaim {
  readonly accountId: string | null;
  readonly traceId: string;
  /** How many attempts have failed. A claim that was released, or whose lease ran out, is none. */
  readonly attempts: number;
  /** How long the reply may still take. */
  readonly remainingMs: number;
}

export interface ReplyShare {
  readonly organizationId: OrganizationId;
  /** How many of its replies may be claimed. */
  readonly limit: number;
}

export interface ReplyProgress {
  readonly status: RunningStatus;
  readonly content: string;
  readonly steps: readonly Step[];
}

export interface ReplyBacklog {
  /** 10,000 stands for that many or more, here and in `held`. */
  readonly waiting: number;
  readonly held: number;
  /** How long ago the waiting reply that is nearest its deadline was asked for; null where none waits. */
  readonly oldestWaitingMs: number | null;
}

/**
 * The assistant message is the job. A running reply *waits* until it is claimed, and is *held* while a worker writes it;
 * it waits again when it is released or retried, or when its lease has run out.
 *
 * Whatever names a claim changes nothing once that claim was overtaken, let go, or the reply has ended: terminal states
 * absorb. Claims, renewals and progress survive a killed process, but not always a power cut: the reply then begins anew.
 */
export interface Replies {
  /**
   * Organizations with a reply that may be claimed now, in the order of their ids: those after `after` first, then the
   * others. The cost does not grow with the number of replies that wait.
   */
  organizationsWaiting(after: OrganizationId | undefined, limit: number): Promise<OrganizationId[]>;
  /**
   * Takes up to so many replies of each organization, its longest waiting first, each with a fresh token and from its
   * beginning: steps and text of an earlier claim are gone.
   */
  claimReplies(shares: readonly ReplyShare[], leaseMs: number): Promise<ClaimedReply[]>;
  /** Lengthens the leases. Answers the claims that no longer hold. */
  renewReplies(claims: readonly ReplyClaim[], leaseMs: number): Promise<ReplyClaim[]>;
  /** Whether the claim still held, and so was written. */
  recordReplyProgress(claim: ReplyClaim, progress: ReplyProgress): Promise<boolean>;
  /** Ends the reply. Whether the claim still held. */
  settleReply(
    claim: ReplyClaim,
    result: {
      status: TerminalStatus;
      content: string;
      steps: readonly Step[];
      sources: readonly Source[] | null;
      model: string;
      failure?: string;
      /** Kept where the claim still held. */
      note?: AuditNote;
    },
  ): Promise<boolean>;
  /** Counts an attempt and lets the claim go: the reply waits, from its beginning, and may be claimed after `delayMs`. */
  retryReply(claim: ReplyClaim, retry: { delayMs: number; failure: string }): Promise<boolean>;
  /** Lets the claim go without counting an attempt: the reply waits, from its beginning. */
  releaseReply(claim: ReplyClaim): Promise<void>;
  /** Ends the thread's running reply as `cancelled`; its text so far stays. Answers the replies that it ended. */
  cancelReplies(organizationId: OrganizationId, threadId: ThreadId): Promise<MessageId[]>;
  /**
   * Lets go of claims whose lease has run out, and fails, with this content and reason, replies that are past their
   * deadline. Answers the latter, of which the caller writes the notes: they are many at once, and seldom.
   */
  sweepReplies(overdue: { content: string; failure: string }): Promise<OverdueReply[]>;
  /**
   * Lets go at once of what dead workers held, where the store can tell that no other lives; elsewhere their leases run
   * out. A worker calls it before its first claim, and lives until the store is closed.
   */
  releaseOrphanedReplies(): Promise<void>;
  /** Those that have ended, or are not there. */
  endedReplies(replies: readonly ReplyName[]): Promise<ReplyName[]>;
  /** How much is under way in all organizations. It looks at 10,000 replies of a kind at most, whatever there is. */
  replyBacklog(): Promise<ReplyBacklog>;
  /** Tells the other nodes, at once and with no promise: what is lost they find out by asking. */
  tellNews(news: ReplyNews): Promise<void>;
  /** Calls `told` with what other nodes tell, until the store is closed. Where nodes cannot be reached, it never does. */
  hearNews(told: (news: ReplyNews) => void): void;
}

/** What happened to replies on one node. */
export interface ReplyNews {
  /** Whether some may be waiting to be written. */
  readonly waiting: boolean;
  readonly ended: readonly ReplyName[];
}
