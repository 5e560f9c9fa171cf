import type { AuditAction, AuditDetail } from '../../../src/domain/audit.ts';
import { type Actor, type AnyAuthority, toActor } from '../../../src/domain/authority.ts';
import type { Application } from '../../../src/domain/credential.ts';
import type {
  ApplicationId,
  KeyId,
  MessageId,
  OrganizationId,
  ThreadId,
  UserId,
} from '../../../src/domain/id.ts';
import type { AssistantMessage, UserMessage, Verdict } from '../../../src/domain/message.ts';
import type { MemberRole, Organization } from '../../../src/domain/organization.ts';
import type { Thread } from '../../../src/domain/thread.ts';
import type {
  AuditNote,
  NewApiKey,
  ReplyName,
  SigningKey,
  UsageCount,
} from '../../../src/storage/port/store.ts';
import { StoreClock, type StoreClocks } from './store-clock.ts';

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

export interface ThreadRow extends Mutable<Thread> {
  readonly sequence: number;
  version: number;
  activityAt: number;
  /** The positions that it left, oldest first. */
  moves: { readonly sequence: number; readonly leftActivityAt: number; readonly movedAt: number }[];
  readonly messages: (UserMessage | ReplyRow)[];
}

/** An assistant message, which is also the job of writing it. */
export interface ReplyRow extends Mutable<AssistantMessage> {
  readonly thread: ThreadRow;
  held: boolean;
  token: number;
  attempts: number;
  crashes: number;
  /** Held: the end of the lease. Waiting: when it may be claimed. */
  availableAt: number;
  deadlineAt: number;
  readonly traceId: string;
  failure: string | null;
  verdict: Verdict | null;
}

export interface MemberRow {
  readonly userId: UserId;
  readonly email: string;
  role: MemberRole;
  readonly service: boolean;
  readonly joinedAt: number;
}

export interface KeyRow extends NewApiKey {
  readonly organization: OrganizationRow;
  readonly createdAt: number;
  revokedAt: number | null;
}

export interface ApplicationRow extends Mutable<Omit<Application, 'lastUsedAt'>> {
  readonly organization: OrganizationRow;
  secretHash: string;
  epoch: number;
  deleted: boolean;
}

export interface AuditEventRow {
  readonly id: string;
  readonly at: number;
  readonly actor: Actor;
  readonly action: AuditAction;
  readonly subject: string;
  readonly detail: AuditDetail;
  readonly traceId: string;
}

export interface OrganizationRow extends Mutable<Organization> {
  readonly threads: Map<ThreadId, ThreadRow>;
  /** Threads that are not deleted. */
  readonly listed: Set<ThreadRow>;
  readonly members: Map<UserId, MemberRow>;
  readonly keys: Map<KeyId, KeyRow>;
  readonly applications: Map<ApplicationId, ApplicationRow>;
  readonly quotaUse: Map<number, number>;
  readonly promptUse: Map<string, { startedAt: number; prompts: number }>;
  readonly usage: Map<string, Mutable<UsageCount>>;
  readonly lastUsedAt: Map<string, number>;
  readonly idempotency: Map<string, IdempotencyRow>;
  /** In the order of writing. */
  readonly audit: AuditEventRow[];
}

interface IdempotencyRow {
  readonly bodyHash: string;
  readonly threadId: ThreadId;
  readonly messageId: MessageId;
  readonly replyId: MessageId;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** What all nodes share. Every method of the store changes it in one synchronous call, which is its transaction. */
export class Tables {
  readonly clock: StoreClock;
  readonly organizations = new Map<OrganizationId, OrganizationRow>();
  readonly userIds = new Map<string, UserId>();
  readonly users = new Set<UserId>();
  readonly signingKeys: Mutable<SigningKey>[] = [];
  readonly keysByHash = new Map<string, KeyRow>();
  readonly applications = new Map<ApplicationId, ApplicationRow>();
  /** Whose they are, by their hash. */
  readonly sessions = new Map<string, UserId>();
  readonly secrets = new Map<string, Uint8Array>();
  /** Running replies of all organizations. */
  readonly running = new Map<MessageId, ReplyRow>();
  jumpAt = 0;
  #sequence = 0;
  #moveSequence = 0;
  #tokens = 0;

  constructor(clocks: StoreClocks) {
    this.clock = new StoreClock(clocks);
  }

  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  nextToken(): number {
    this.#tokens += 1;
    return this.#tokens;
  }

  get lastSequence(): number {
    return this.#sequence;
  }

  get lastMove(): number {
    return this.#moveSequence;
  }

  isAuthorized(organizationId: OrganizationId, authority: AnyAuthority): boolean {
    const organization = this.organizations.get(organizationId);
    if (authority.kind === 'key') {
      const { organization: own, userId, revokedAt } = this.keysByHash.get(authority.keyHash) ?? {};
      const isLive = revokedAt === null || (revokedAt !== undefined && revokedAt > this.clock.peek());
      return own === organization && userId === authority.userId && isLive && own?.apiEnabled === true;
    }
    if (authority.kind !== 'session') return true;
    const { userId, sessionHash, role } = authority;
    const member = organization?.members.get(userId);
    if (authority.organizationId !== organizationId || this.sessions.get(sessionHash) !== userId)
      return false;
    return member !== undefined && (role === 'member' || member.role === role);
  }

  thread(organizationId: OrganizationId, threadId: ThreadId): ThreadRow | undefined {
    return this.organizations.get(organizationId)?.threads.get(threadId);
  }

  reply({ organizationId, threadId, messageId }: ReplyName): ReplyRow | undefined {
    const reply = this.running.get(messageId);
    return reply?.thread.organizationId === organizationId && reply.threadId === threadId ? reply : undefined;
  }

  /** Puts the thread at the top of its listings, at a time after every earlier commit. */
  move(thread: ThreadRow, at: number): void {
    this.#moveSequence += 1;
    thread.moves.push({ sequence: this.#moveSequence, leftActivityAt: thread.activityAt, movedAt: at });
    thread.updatedAt = at;
    thread.activityAt = at;
  }

  note(organizationId: OrganizationId, note: AuditNote<AnyAuthority>, at: number): void {
    const actor = toActor(note.authority);
    const { id, action, subject, detail, traceId } = note;
    this.organizations.get(organizationId)?.audit.push({ id, at, actor, action, subject, detail, traceId });
  }
}

/** Called with every change that a reader can see. */
export function raiseVersion(thread: ThreadRow, at: number): void {
  thread.version = Math.max(thread.version + 1, at);
}
