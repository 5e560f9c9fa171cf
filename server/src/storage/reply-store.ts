import type { MessageId, OrganizationId, ThreadId } from '../domain/id.ts';
import type { Source, Step, Verdict } from '../domain/message.ts';
import type { RunningStatus, TerminalStatus } from '../domain/reply.ts';
import type { AuditNote } from './audit-store.ts';

/** One reply, by all the names it has. */
export interface ReplyName {
  readonly organizationId: OrganizationId;
  readonly threadId: ThreadId;
  readonly messageId: MessageId;
}

/** A reply that the store failed, why, and the trace id of the request that asked for it. */
export interface FailedReply extends ReplyName {
  readonly traceId: string;
  readonly failure: string;
}

/** How the store fails replies that no worker will finish. */
export interface FailureTexts {
  /** The text that the caller reads. */
  readonly content: string;
  /** The reason for a reply that passed its deadline. */
  readonly overdue: string;
  /** The reason for a reply whose workers died too often. */
  readonly abandoned: string;
}

/** The right to write one reply, until the lease runs out. `token` grows with every claim of the same reply. */
export interface ReplyClaim extends ReplyName {
  readonly token: number;
}

export interface ClaimedReply extends ReplyClaim {
  readonly accountId: string | null;
  readonly traceId: string;
  /** How many attempts have failed. A worker that died counts as a failed attempt; a released claim does not. */
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
 * A worker that dies while it holds a reply costs that reply one attempt, so that a reply that kills its process ends. The
 * store cannot tell a dead worker from one that is paused or cut off: whoever lets a lease run out is taken for dead. A
 * worker that renews before a sweep has let its claim go, however late, keeps it.
 *
 * Leases and deadlines last as long as they were promised when the store's clock is set forward by two seconds or more
 * while a process that sweeps is running: before it fails or lets go of anything, a sweep moves them by the jump, once for
 * all processes.
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
   * beginning: steps and text of an earlier claim are gone. A reply past its deadline is never claimed. Where it rejects,
   * nothing stays claimed: what it claimed nevertheless is let go by the next sweep, at no cost of an attempt.
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
      verdict?: Verdict | undefined;
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
   * Fails replies past their deadline. With `leases`, it also lets go of claims whose lease has run out, at the cost of an
   * attempt each, and fails those that have no attempt left. Returns the failed replies. The caller writes their audit
   * notes: there can be many at once, but rarely.
   */
  sweepReplies(
    texts: FailureTexts,
    sweep: { readonly attemptsMax: number; readonly leases: boolean },
  ): Promise<FailedReply[]>;
  /**
   * Does at once what a sweep does once leases have run out, for all claims, where the store can tell that no other worker
   * lives. Elsewhere it does nothing, and the leases run out. A worker calls it before its first claim, and lives until the
   * store is closed.
   */
  releaseOrphanedReplies(texts: FailureTexts, attemptsMax: number): Promise<FailedReply[]>;
  /** Those that have ended, or are not there. */
  endedReplies(replies: readonly ReplyName[]): Promise<ReplyName[]>;
  /** How much is under way in all organizations. It looks at 10,000 replies of a kind at most, whatever there is. */
  replyBacklog(): Promise<ReplyBacklog>;
  /** Tells the other nodes, at once and with no promise: what is lost they find out by asking. */
  sendNotice(notice: ReplyNotice): Promise<void>;
  /** Calls `listener` with what other nodes tell, until the store is closed. Where nodes cannot be reached, it never does. */
  onNotice(listener: (notice: ReplyNotice) => void): void;
}

/** What happened to replies on one node. */
export interface ReplyNotice {
  /** Whether some may be waiting to be written. */
  readonly waiting: boolean;
  readonly ended: readonly ReplyName[];
}
