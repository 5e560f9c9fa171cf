import { nextTurn } from '../../../../runtime/src/turns.ts';
import { notFound, threadNotFound } from '../../domain/errors.ts';
import { isThreadId, type OrganizationId, type ThreadId } from '../../domain/id.ts';
import { deriveThreadStatus, type Message, type ThreadStatus } from '../../domain/message.ts';
import { canRead, changeRefused, type Principal, type UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Store, WholeThread } from '../../storage/port/store.ts';
import type { SignedIn } from '../people/sessions.ts';
import type { FollowedThreads } from './followed-threads.ts';

export type { WholeThread };

export interface LargeThread extends Omit<WholeThread, 'messages'> {
  readonly status: ThreadStatus;
  readonly parts: AsyncIterable<readonly Message[]>;
}

/** Loading and presenting this much takes less than half a millisecond. */
const smallBytesMax = 16_384;
/** The same takes up to three milliseconds, so it waits for a turn. The store keeps such a thread. */
const wholeBytesMax = 131_072;

interface ThreadReadNeeds {
  readonly store: Pick<
    Store,
    | 'getThread'
    | 'threadVersion'
    | 'getThreadHead'
    | 'findThread'
    | 'listMessages'
    | 'findMemberById'
    | 'listMemberships'
    | 'findDocument'
  >;
  readonly followedThreads: FollowedThreads;
}

export type ThreadReads = ReturnType<typeof createThreadReads>;

export function createThreadReads({ store, followedThreads }: ThreadReadNeeds) {
  return { get, getVersion, getView, findReadable, findOwn, findHome };

  /** Returns the object of the store as it is, unless the thread is large. */
  async function get(principal: Principal, threadId: string): Promise<WholeThread | LargeThread> {
    if (!isThreadId(threadId)) throw threadNotFound();
    const small = await findWhole(principal, threadId, smallBytesMax);
    if (small !== undefined) return small;
    // Decides whether the principal may read the thread before its messages are loaded.
    await getVersion(principal, threadId);
    await nextTurn(principal.organizationId);
    return (await findWhole(principal, threadId, wholeBytesMax)) ?? getLarge(principal, threadId);
  }

  /** The version that `get` would return now, without loading messages. */
  async function getVersion(principal: Principal, threadId: string): Promise<number> {
    if (!isThreadId(threadId)) throw threadNotFound();
    const version = await store.threadVersion(principal.organizationId, threadId, principal);
    if (version === undefined) throw threadNotFound();
    return version;
  }

  async function getView(principal: UserPrincipal, threadId: string): Promise<ThreadView> {
    const found = await get(principal, threadId);
    const mine = found.thread.userId === principal.userId;
    const createdBy = await loadCreator(store, found.thread);
    if ('parts' in found) return { view: { ...found, mine, createdBy }, parts: found.parts };
    const { thread, version } = found;
    const all = { skip: 0, limit: found.messages.length, bytesMax: Number.MAX_SAFE_INTEGER };
    const messages = await store.listMessages(thread.organizationId, thread.id, all);
    const status = deriveThreadStatus(messages);
    return { view: { thread, version, status, mine, createdBy }, parts: [messages] };
  }

  /** The thread without its messages, if the principal may read it. */
  async function findReadable(principal: Principal, threadId: string): Promise<Thread> {
    const thread = isThreadId(threadId)
      ? await store.findThread(principal.organizationId, threadId)
      : undefined;
    if (thread === undefined || !canRead(principal, thread)) throw threadNotFound();
    return thread;
  }

  /** The same, if the person created it. `action` is as in `changeRefused`. */
  async function findOwn(principal: UserPrincipal, threadId: string, action: string): Promise<Thread> {
    const thread = await findReadable(principal, threadId);
    if (thread.userId !== principal.userId) throw changeRefused(principal, thread, action);
    return thread;
  }

  /** Among the organizations that the session may enter: links to threads and documents do not name theirs. */
  async function findHome({ session }: SignedIn, id: string): Promise<OrganizationId> {
    const { userId, access } = session;
    const { entered } = await store.listMemberships(userId, access);
    for (const { organizationId } of entered) {
      const found = isThreadId(id)
        ? await store.threadVersion(organizationId, id, { userId })
        : await store.findDocument(organizationId, id);
      if (found !== undefined) return organizationId;
    }
    throw notFound('No such thread or document.');
  }

  /** Undefined if the thread is larger and the store does not have it in memory, or if there is none. */
  async function findWhole(principal: Principal, threadId: ThreadId, bytesMax: number) {
    const { organizationId, userId } = principal;
    const found = await store.getThread(organizationId, threadId, { userId, bytesMax });
    if (found !== undefined && !canRead(principal, found.thread)) throw threadNotFound();
    return found;
  }

  async function getLarge(principal: Principal, threadId: ThreadId): Promise<LargeThread> {
    const { organizationId } = principal;
    const head = await store.getThreadHead(organizationId, threadId);
    if (head === undefined || !canRead(principal, head.thread)) throw threadNotFound();
    const parts = async function* () {
      const { poller, leave } = followedThreads.follow(organizationId, threadId, () => {});
      try {
        await poller.reach(head.version);
        yield* poller.parts(head, () => poller.state !== null && canRead(principal, poller.state.thread));
      } finally {
        leave();
      }
    };
    return { ...head, status: deriveThreadStatus([head.latest]), parts: parts() };
  }
}

interface PartSize {
  readonly limit: number;
  readonly bytesMax: number;
}

/** The messages of a thread in parts. A small thread is read at once. */
export async function* messageParts(
  store: Pick<Store, 'getThread' | 'listMessages'>,
  { organizationId, id, userId }: Thread,
  part: PartSize,
): AsyncGenerator<readonly Message[]> {
  await nextTurn(organizationId);
  const whole = await store.getThread(organizationId, id, { userId, bytesMax: part.bytesMax });
  if (whole !== undefined) return yield whole.messages;
  yield* messagesInTurns(store, organizationId, id, part);
}

/** Each part in a turn of its own: loading blocks the event loop on SQLite. */
export async function* messagesInTurns(
  store: Pick<Store, 'listMessages'>,
  organizationId: OrganizationId,
  threadId: ThreadId,
  part: PartSize,
): AsyncGenerator<readonly Message[], void> {
  for (let skip = 0; ; ) {
    await nextTurn(organizationId);
    const messages = await store.listMessages(organizationId, threadId, { ...part, skip });
    if (messages.length === 0) return;
    yield messages;
    skip += messages.length;
  }
}

/** A thread as the console shows it to one person, without its messages. */
export interface ThreadHeadView extends Omit<LargeThread, 'parts'> {
  readonly mine: boolean;
  /** The creator's address; null once they have left. */
  readonly createdBy: string | null;
}

export interface ThreadView {
  readonly view: ThreadHeadView;
  /** Replies have their details. */
  readonly parts: Iterable<readonly Message[]> | AsyncIterable<readonly Message[]>;
}

export async function loadCreator(
  store: Pick<Store, 'findMemberById'>,
  { organizationId, userId }: Thread,
): Promise<string | null> {
  return (await store.findMemberById(organizationId, userId))?.email ?? null;
}
