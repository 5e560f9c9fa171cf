import assert from 'node:assert/strict';
import type { AuditAction } from '../../src/domain/audit.ts';
import type { AnyAuthority, OperatorAuthority, PersonAuthority } from '../../src/domain/authority.ts';
import {
  type ApplicationId,
  createIdGenerator,
  type DocumentId,
  type MessageId,
  type OrganizationId,
  type ThreadId,
  type UserId,
} from '../../src/domain/id.ts';
import type { ReplyDetails } from '../../src/domain/message.ts';
import type { QuotaUse } from '../../src/domain/organization.ts';
import type { UserPrincipal } from '../../src/domain/principal.ts';
import type { RetentionKind } from '../../src/domain/retention.ts';
import { traceIdStart } from '../../src/domain/traffic.ts';
import type {
  AuditNote,
  ClaimedReply,
  DocumentBudget,
  FailedReply,
  ListedThread,
  Listing,
  LoggedRequest,
  NewDocument,
  NewReply,
  NewSigningKey,
  NewThread,
  ReplyQueue,
  RetentionPlace,
  Store,
  ThreadBudget,
  TrafficReport,
  Unauthorized,
} from '../../src/storage/port/store.ts';

/** How a reply ends. */
export const completed = {
  status: 'completed',
  content: 'Because.',
  steps: [],
  sources: null,
  model: 'm',
} as const;

export interface Conversation {
  readonly organization: OrganizationId;
  readonly thread: PersonsThread;
}

/** A trace ID as the service creates them: it contains the time at which the request arrived. */
export function traceIdAt(at: number, last = 0): string {
  return `${traceIdStart(at)}-7000-8000-${String(last).padStart(12, '0')}`;
}

/** A finished request for the request log. */
export function loggedRequest(
  change: Pick<LoggedRequest, 'organizationId' | 'at'> & Partial<LoggedRequest>,
): LoggedRequest {
  return {
    traceId: traceIdAt(change.at),
    method: 'GET',
    operation: 'getThread',
    status: 200,
    latencyUs: 1500,
    credentialId: 'key_1',
    code: null,
    message: null,
    ...change,
  };
}

export function trafficReport(
  change: Pick<TrafficReport, 'organizationId'> & Partial<TrafficReport>,
): TrafficReport {
  return {
    credentialId: 'key_1',
    hour: 24,
    operation: 'getThread',
    outcome: 'OK',
    bucket: 1,
    requests: 1,
    lastAt: 1,
    ...change,
  };
}

/** Opens another node on the same data. Each test has its own data. */
export type OpenStore = (clock: TestClock) => Store | Promise<Store>;

/** A clock that moves only when a test moves it. */
export class TestClock {
  ms = Date.UTC(2026, 10, 15, 12);
  steadyMs = 0;
  readonly wall = (): number => this.ms;
  readonly steady = (): number => this.steadyMs;

  /** Lets time pass. Changing only `ms` sets the wall clock. */
  pass(ms: number): void {
    this.ms += ms;
    this.steadyMs += ms;
  }
}

let seed = 0;
const ids = createIdGenerator(Date.now, (size) =>
  Uint8Array.from({ length: size }, () => {
    seed = (seed * 31 + 7) % 256;
    return seed;
  }),
);

/** A store with helpers to fill it; `node` opens another node on the same data. */
export class World {
  readonly clock = new TestClock();
  readonly store: Store;
  readonly #open: OpenStore;
  readonly #nodes: Store[] = [];
  readonly #keys = new Map<OrganizationId, Promise<string>>();
  #madeKeys = 0;

  private constructor(open: OpenStore, store: Store, clock: TestClock) {
    this.#open = open;
    this.store = store;
    this.clock = clock;
    this.#nodes.push(store);
  }

  static async open(open: OpenStore): Promise<World> {
    const clock = new TestClock();
    return new World(open, await open(clock), clock);
  }

  async node(): Promise<Store> {
    const store = await this.#open(this.clock);
    this.#nodes.push(store);
    return store;
  }

  /** Closes one of the nodes before the others. */
  async end(node: Store): Promise<void> {
    this.#nodes.splice(this.#nodes.indexOf(node), 1);
    await node.close();
  }

  async close(): Promise<void> {
    for (const node of this.#nodes) await node.close();
  }

  async organization(
    change: { apiEnabled?: boolean; dailyQuota?: number; name?: string } = {},
  ): Promise<OrganizationId> {
    const id = ids.organization();
    await this.store.createOrganization(
      { id, name: 'Acme', apiEnabled: true, dailyQuota: 10, ...change },
      note('organization.created', id),
    );
    return id;
  }

  async member(organizationId: OrganizationId, email = `${ids.user()}@example.org`): Promise<UserId> {
    const added = granted(
      await this.store.addMember(
        organizationId,
        { candidateUserId: ids.user(), email, role: 'member', service: false, membersMax: 10_000 },
        note('member.added'),
      ),
    );
    if (added.outcome !== 'added') throw new Error(added.outcome);
    return added.userId;
  }

  /** Counts one request against the organization's quota, with an org-wide key. */
  async use(organizationId: OrganizationId, day: number, store: Store = this.store): Promise<QuotaUse> {
    const admission = await store.admitKey(await this.#ensureKey(organizationId), day);
    if (admission?.use === undefined) throw new Error('the request was not admitted');
    return admission.use;
  }

  #ensureKey(organizationId: OrganizationId): Promise<string> {
    const known = this.#keys.get(organizationId);
    if (known !== undefined) return known;
    this.#madeKeys += 1;
    const key = {
      id: ids.key(),
      name: '',
      userId: null,
      hash: this.#madeKeys.toString(16).padStart(64, 'f'),
      hint: '',
      createdBy: null,
    };
    const made = this.store
      .createApiKey(organizationId, key, note('key.created', key.id))
      .then(() => key.hash);
    this.#keys.set(organizationId, made);
    return made;
  }

  async thread(
    organizationId: OrganizationId,
    userId: UserId,
    change: Partial<NewThread> = {},
  ): Promise<PersonsThread> {
    const thread = newThread(userId, change);
    await this.store.createThread(organizationId, thread, by(userId));
    return thread;
  }

  /** Claims up to `limit` replies of each organization with waiting replies. */
  async claim(
    leaseMs: number,
    limit = 100,
    store: Store = this.store,
    queue?: ReplyQueue,
  ): Promise<ClaimedReply[]> {
    const organizations = await store.organizationsWaiting(undefined, 100, queue);
    const shares = organizations.map((organizationId) => ({ organizationId, limit }));
    return store.claimReplies(shares, leaseMs, queue);
  }

  /** The details of the thread's replies, in order of creation. */
  async replyDetails(organizationId: OrganizationId, threadId: ThreadId): Promise<ReplyDetails[]> {
    const all = { skip: 0, limit: 1000, bytesMax: Number.MAX_SAFE_INTEGER };
    const messages = await this.store.listMessages(organizationId, threadId, all);
    return messages.flatMap((message) => (message.role === 'assistant' ? [message.details!] : []));
  }

  /** Sweeps as every process does a few times a second. Returns the failed replies. */
  async sweep(store: Store = this.store, { leases = true } = {}): Promise<readonly FailedReply[]> {
    return (await store.sweepReplies({ leases })).failed;
  }

  /** Removes everything that is due. Returns the numbers of removed rows and of batches. */
  async removeAll(
    kind: RetentionKind,
    keepMs: number,
    store: Store = this.store,
  ): Promise<{ removed: number; batches: number }> {
    let [removed, batches] = [0, 0];
    let place: RetentionPlace | null = '';
    while (place !== null) {
      const batch = await store.removeExpired(kind, keepMs, place);
      assert.ok(batch.removed <= 500);
      removed += batch.removed;
      batches += 1;
      place = batch.next;
    }
    return { removed, batches };
  }

  /** The ids of a whole listing, walked in pages of `limit`. */
  async walk(organizationId: OrganizationId, listing: Listing, limit = 3): Promise<ThreadId[]> {
    const first = await this.store.beginWalk(organizationId, listing, limit);
    return [...listIds(first.rows), ...(await this.restOfWalk(organizationId, listing, limit, first))];
  }

  async restOfWalk(
    organizationId: OrganizationId,
    listing: Listing,
    limit: number,
    { rows, more, start }: { rows: ListedThread[]; more: boolean; start: string },
  ): Promise<ThreadId[]> {
    const shown: ThreadId[] = [];
    let after = rows.at(-1)?.position;
    let hasMore = more;
    while (hasMore && after !== undefined) {
      const page = await this.store.continueWalk(organizationId, listing, limit, { start, after });
      if (page === 'expired') throw new Error('the walk has expired');
      shown.push(...listIds(page.rows));
      after = page.rows.at(-1)?.position;
      hasMore = page.more;
    }
    return shown;
  }
}

export function listIds(rows: readonly ListedThread[]): ThreadId[] {
  return rows.map(({ thread }) => thread.id);
}

/** A thread to create, and the person who creates it. */
export type PersonsThread = NewThread & { readonly userId: UserId };

export function newThread(userId: UserId, change: Partial<NewThread> = {}): PersonsThread {
  return {
    id: ids.thread(),
    userId,
    title: 'A title',
    accountId: null,
    secondaryId: null,
    prompt: 'A prompt',
    messageId: ids.message(),
    replyId: ids.message(),
    replyDeadlineMs: 600_000,
    traceId: 'trace',
    ...change,
  };
}

export const operator = { kind: 'operator' } as const;
export const skein = { kind: 'skein' } as const;

/** The operator, in the name of the person: the store verifies nothing. Tests of `authorities.ts` use real authorities. */
export function by(userId: UserId): PersonAuthority {
  return { kind: 'operator', userId };
}

/** The person as the caller of a use case, in the operator's command. */
export function createPrincipal(organizationId: OrganizationId, userId: UserId): UserPrincipal {
  return { organizationId, userId, authority: by(userId) };
}

export function noteBy(userId: UserId): AuditNote<PersonAuthority> {
  return note(undefined, undefined, { authority: by(userId) });
}

const wide: ThreadBudget = { messagesMax: 10_000, bytesMax: 100_000_000 };

/** A prompt in an existing thread, with its reply. */
export function newFollowUp(change: Partial<NewReply> = {}): NewReply {
  const prompt = { messageId: ids.message(), content: 'Another prompt' };
  return {
    prompt,
    replyId: ids.message(),
    replyDeadlineMs: 600_000,
    traceId: 'trace',
    budget: wide,
    ...change,
  };
}

/** A retry of the last reply. */
export function newRetry(change: Partial<NewReply> = {}): NewReply {
  return newFollowUp({ prompt: null, ...change });
}

export function newDocument(change: Partial<NewDocument> = {}): NewDocument {
  return {
    id: ids.document(),
    accountId: null,
    name: 'refunds.md',
    title: 'Refunds',
    url: null,
    bytes: 17,
    passages: [{ heading: 'Goods', text: 'Thirty days.', terms: ['thirti', 'day'] }],
    ...change,
  };
}

const budget: DocumentBudget = { documentsMax: 100, bytesMax: 1_000_000 };

/** Stores a document. By default, it has a note and a budget that is not exceeded. */
export function putDocument(
  store: Pick<Store, 'putDocument'>,
  organizationId: OrganizationId,
  document: NewDocument,
  { within = budget, as = note('document.added', document.id) } = {},
): ReturnType<Store['putDocument']> {
  return store.putDocument(organizationId, document, within, as);
}

type NoteChange = Partial<Omit<AuditNote, 'authority'>>;

/** An audit note, of an operator's action by default. */
export function note<A extends AnyAuthority>(
  action: AuditAction | undefined,
  subject: string | undefined,
  change: NoteChange & { readonly authority: A },
): AuditNote<A>;
export function note(
  action?: AuditAction,
  subject?: string,
  change?: NoteChange,
): AuditNote<OperatorAuthority>;
export function note(
  action: AuditAction = 'organization.changed',
  subject = 'the subject',
  change: NoteChange = {},
): AuditNote<AnyAuthority> {
  return { id: ids.event(), authority: operator, traceId: 'trace', action, subject, detail: {}, ...change };
}

/** The result of a write whose authority holds. */
export function granted<T>(result: T | Unauthorized): T {
  if (result === 'unauthorized') throw new Error('the write was not authorized');
  return result as T;
}

type NewApplication = Parameters<Store['createApplication']>[1];

export function newApplication(change: Partial<NewApplication> = {}): NewApplication {
  return { id: ids.application(), name: 'Warehouse 📦', secretHash: fakeHash(1), ...change };
}

/** The store does not read the key. */
export function newSigningKey(id: string): NewSigningKey {
  return { id, privateJwk: `{"kty":"EC","d":"${id}"}` };
}

export function fakeHash(byte: number): string {
  return byte.toString(16).padStart(2, '0').repeat(32);
}

export const strangers = {
  organization: () => ids.organization(),
  user: () => ids.user(),
  key: () => ids.key(),
  application: (): ApplicationId => ids.application(),
  thread: (): ThreadId => ids.thread(),
  message: (): MessageId => ids.message(),
  document: (): DocumentId => ids.document(),
};
