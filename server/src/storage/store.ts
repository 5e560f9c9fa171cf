import type { ApiKey } from '../domain/credential.ts';
import type { Position } from '../domain/cursor.ts';
import type { KeyId, MessageId, OrganizationId, ThreadId, UserId } from '../domain/id.ts';
import type { Message, Source, Step } from '../domain/message.ts';
import type { Member, MemberRole, Organization } from '../domain/organization.ts';
import type { QuotaUse } from '../domain/quota.ts';
import type { RunningStatus, TerminalStatus } from '../domain/reply.ts';
import type { Thread } from '../domain/thread.ts';

/**
 * Everything Skein keeps. One method is one transaction: it happens whole or not at all, and a resolved promise
 * means that it survives a power cut (except where a method says otherwise).
 *
 * Expected outcomes are returned, never thrown; what is thrown is a fault of the disk, the network or the program.
 * The store's clock dates every row, and never runs backwards: a later commit never carries an earlier time.
 */
export interface Store extends Organizations, Members, ApiKeys, Quotas, Threads, Replies {
  /** The value kept under `name`; the first caller's `candidate` is kept for all who come later, on every node. */
  secret(name: string, candidate: Uint8Array): Promise<Uint8Array>;
  /** Rejects unless the store can be read now. */
  ping(): Promise<void>;
  /** Looks the store over for the operator; may take long on a large one. */
  diagnose(): Promise<Diagnosis[]>;
  /** Finishes the writes under way, then lets go of every file and connection. */
  close(): Promise<void>;
}

export interface Diagnosis {
  readonly check: string;
  readonly ok: boolean;
  /** What was found and, where it is not ok, what to do. */
  readonly detail: string;
}

export interface Organizations {
  createOrganization(organization: Omit<Organization, 'createdAt'>): Promise<void>;
  /** Changes what is given and leaves the rest. */
  updateOrganization(
    organizationId: OrganizationId,
    change: { apiEnabled?: boolean; dailyQuota?: number },
  ): Promise<Organization | undefined>;
  /** By id, or by name where exactly one organization bears it. */
  findOrganization(idOrName: string): Promise<Organization | undefined>;
  /** In order of creation. */
  listOrganizations(): Promise<Organization[]>;
}

export interface NewMember {
  /** Used unless the address is known already: a person keeps one id in all organizations and after coming back. */
  readonly candidateUserId: UserId;
  readonly email: string;
  readonly role: MemberRole;
  readonly service: boolean;
}

export interface Members {
  addMember(
    organizationId: OrganizationId,
    member: NewMember,
  ): Promise<{ outcome: 'added'; userId: UserId } | { outcome: 'already-member' | 'organization-missing' }>;
  /** Ends the membership and revokes the member's personal keys in this organization, together. */
  removeMember(
    organizationId: OrganizationId,
    email: string,
  ): Promise<{ outcome: 'removed'; userId: UserId; keysRevoked: number } | { outcome: 'missing' }>;
  findMember(organizationId: OrganizationId, email: string): Promise<Member | undefined>;
  /** In order of joining. */
  listMembers(organizationId: OrganizationId): Promise<Member[]>;
}

export interface NewApiKey {
  readonly id: KeyId;
  readonly name: string;
  /** Null makes the key org-wide. */
  readonly userId: UserId | null;
  /** SHA-256, in hexadecimal. */
  readonly hash: string;
  readonly hint: string;
}

/** What a live key stands for, and whether its organization is in the beta now. */
export interface KeyGrant {
  readonly organizationId: OrganizationId;
  readonly keyId: KeyId;
  readonly userId: UserId | null;
  readonly apiEnabled: boolean;
}

export interface ApiKeys {
  /** Refused, in the same transaction, outside the beta and for a user who is not a member. */
  createApiKey(
    organizationId: OrganizationId,
    key: NewApiKey,
  ): Promise<'created' | 'organization-missing' | 'api-disabled' | 'not-a-member'>;
  /** Revoking a revoked key changes nothing and is `revoked` again. */
  revokeApiKey(organizationId: OrganizationId, keyId: KeyId): Promise<'revoked' | 'missing'>;
  /** In order of creation, revoked ones included. */
  listApiKeys(organizationId: OrganizationId): Promise<ApiKey[]>;
  /** Reads committed state every time: a key revoked by another process is unknown from that commit on. */
  findKeyGrant(hash: string): Promise<KeyGrant | undefined>;
}

export interface Quotas {
  /**
   * Takes one request from the organization's quota of that UTC day, exactly: of any number of calls, on any number of
   * nodes, as many are granted as the quota has. It survives a killed process; a power cut may forget the last moments.
   */
  consumeQuota(organizationId: OrganizationId, day: number): Promise<QuotaUse>;
}

export interface NewThread {
  readonly id: ThreadId;
  readonly userId: UserId;
  readonly title: string;
  readonly accountId: string | null;
  readonly secondaryId: string | null;
  readonly prompt: string;
  readonly messageId: MessageId;
  readonly replyId: MessageId;
  readonly replyDeadlineMs: number;
  readonly traceId: string;
  readonly idempotency?: { readonly key: string; readonly bodyHash: string; readonly keepMs: number };
}

/** Whose threads a listing shows: the user's own and all published ones, or (null) the published ones only. */
export interface Listing {
  readonly userId: UserId | null;
  /** Only threads of this account. */
  readonly accountId?: string;
}

export interface ListedThread {
  readonly thread: Thread;
  /** Where it stood when the walk began; a rename since then has moved the thread itself. */
  readonly position: Position;
}

export interface ThreadPage {
  readonly rows: ListedThread[];
  /** Whether a row follows the last one of this page. */
  readonly more: boolean;
}

export interface Threads {
  /**
   * Thread, user message and assistant message (`in_progress`) in one commit. A key seen before from the same user
   * within `keepMs` creates nothing: with the same body it answers what it made then, with another `key-reused`.
   */
  createThread(
    organizationId: OrganizationId,
    thread: NewThread,
  ): Promise<
    | { outcome: 'created'; createdAt: number }
    | { outcome: 'repeated'; threadId: ThreadId; messageId: MessageId; replyId: MessageId; createdAt: number }
    | { outcome: 'key-reused' }
  >;
  /** The thread with every message in order of creation, of one moment; deleted threads included. */
  getThread(
    organizationId: OrganizationId,
    threadId: ThreadId,
  ): Promise<{ thread: Thread; messages: Message[] } | undefined>;
  /**
   * Renames if `userId` created the thread and it is not deleted; otherwise changes nothing and returns the thread.
   * The new activity lies above that of everything committed before.
   */
  renameThread(
    organizationId: OrganizationId,
    threadId: ThreadId,
    userId: UserId,
    title: string,
  ): Promise<{ outcome: 'renamed' | 'refused'; thread: Thread } | { outcome: 'missing' }>;
  /** Deletes softly, and cancels a running reply in the same commit, under the same conditions as `renameThread`. */
  deleteThread(
    organizationId: OrganizationId,
    threadId: ThreadId,
    userId: UserId,
  ): Promise<{ outcome: 'deleted' } | { outcome: 'refused'; thread: Thread } | { outcome: 'missing' }>;
  /** Deleted threads are `missing`. Touches neither activity nor `updatedAt`. */
  setThreadPublished(
    organizationId: OrganizationId,
    threadId: ThreadId,
    published: boolean,
  ): Promise<'done' | 'missing'>;
  /** The first page of a walk, its start, and how many threads the listing has now. The cost does not grow with that. */
  beginWalk(
    organizationId: OrganizationId,
    listing: Listing,
    limit: number,
  ): Promise<ThreadPage & { start: string; size: number }>;
  /**
   * A later page: the threads that existed at `start` in the order they had then, less those deleted or hidden since.
   * Renames are followed for a day after they happen.
   */
  continueWalk(
    organizationId: OrganizationId,
    listing: Listing,
    limit: number,
    walk: { start: string; after: Position },
  ): Promise<ThreadPage>;
}

/** The right to write one reply, until the lease runs out. `token` grows with every claim of the same reply. */
export interface ReplyClaim {
  readonly organizationId: OrganizationId;
  readonly threadId: ThreadId;
  readonly messageId: MessageId;
  readonly token: number;
}

export interface ClaimedReply extends ReplyClaim {
  readonly prompt: string;
  readonly accountId: string | null;
  readonly traceId: string;
  readonly attempts: number;
  readonly deadlineAt: number;
}

export interface Replies {
  /**
   * Takes up to `limit` replies that nobody holds, oldest first, each with a fresh token and from its beginning:
   * steps and text of an earlier claim are gone. A power cut may undo it: then the reply is claimed once more.
   */
  claimReplies(limit: number, leaseMs: number): Promise<ClaimedReply[]>;
  /** Whether the claim still held, and so was written and its lease renewed. A power cut may undo it. */
  recordReplyProgress(
    claim: ReplyClaim,
    progress: { status: RunningStatus; content: string; steps: readonly Step[]; leaseMs: number },
  ): Promise<boolean>;
  /** Whether the claim still held: terminal states absorb, and an overtaken worker writes nothing. */
  settleReply(
    claim: ReplyClaim,
    result: {
      status: TerminalStatus;
      content: string;
      steps: readonly Step[];
      sources: readonly Source[] | null;
      model: string;
      failure?: string;
    },
  ): Promise<boolean>;
  /** Lets the claim go, so that the next `claimReplies` finds the reply. */
  releaseReply(claim: ReplyClaim): Promise<void>;
}
