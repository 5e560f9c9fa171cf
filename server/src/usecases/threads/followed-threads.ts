import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import { deriveThreadStatus, type Message, type ThreadStatus } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { keepUnchanged, threadNews } from '../../domain/thread-news.ts';
import type { Store } from '../../storage/store.ts';
import { type DetailsByReply, loadReplyDetails } from '../replies/reply-details.ts';
import type { ReplySignals } from '../replies/reply-signals.ts';
import { Wakeup } from '../replies/wakeup.ts';
import type { ThreadSignals } from './thread-signals.ts';

/** How often a thread is read. Other processes write, too, and do not always send a signal. */
export interface FollowPace {
  /** Never more often than this, however many signals arrive. */
  readonly atMostEveryMs: number;
  readonly whileRunningMs: number;
  readonly whileIdleMs: number;
}

const usualPace: FollowPace = { atMostEveryMs: 100, whileRunningMs: 500, whileIdleMs: 3000 };

interface Sources {
  readonly store: Store;
  readonly replySignals: ReplySignals;
  readonly threadSignals: ThreadSignals;
}

/** Everything that any follower may see of a thread. Messages that did not change are the same objects in every state. */
export interface FollowedState {
  readonly thread: Thread;
  readonly version: number;
  readonly messages: readonly Message[];
  readonly status: ThreadStatus;
  readonly details: DetailsByReply;
}

/** Threads that somebody follows in this process. Each has one poller, however many follow it. */
export class FollowedThreads {
  readonly #sources: Sources;
  readonly #pace: FollowPace;
  readonly #pollers = new Map<string, ThreadPoller>();

  constructor(sources: Sources, pace: FollowPace = usualPace) {
    this.#sources = sources;
    this.#pace = pace;
  }

  /** Calls `changed` whenever the poller has a new state, until `leave` is called. */
  follow(organizationId: OrganizationId, threadId: ThreadId, changed: () => void) {
    const key = `${organizationId} ${threadId}`;
    const poller = this.#pollers.get(key) ?? new ThreadPoller(this.#sources, organizationId, threadId);
    if (!this.#pollers.has(key)) void poller.poll(this.#pace);
    this.#pollers.set(key, poller);
    poller.followers.add(changed);
    const leave = () => {
      if (!poller.followers.delete(changed) || poller.followers.size > 0) return;
      this.#pollers.delete(key);
      poller.stop();
    };
    return { poller, leave };
  }
}

/** Reads one thread for all who follow it. It loads messages only when the version has changed. */
class ThreadPoller {
  readonly followers = new Set<() => void>();
  readonly #sources: Sources;
  readonly #organizationId: OrganizationId;
  readonly #threadId: ThreadId;
  readonly #stopping = new AbortController();
  readonly #wakeup = new Wakeup(this.#stopping.signal);
  readonly #unfollow: () => void;
  #unwatch = () => {};
  #state: FollowedState | null | undefined;
  #loading: Promise<void> | undefined;

  constructor(sources: Sources, organizationId: OrganizationId, threadId: ThreadId) {
    this.#sources = sources;
    this.#organizationId = organizationId;
    this.#threadId = threadId;
    this.#unfollow = sources.threadSignals.follow(threadId, this.#wakeup.wake);
  }

  /** Null once the thread was deleted. */
  get state(): FollowedState | null {
    return this.#state ?? null;
  }

  /** Resolves when the state is of `version`, or of a later one. */
  async reach(version: number | undefined): Promise<void> {
    // A load that began before the version was read may be older.
    await this.#loading?.catch(() => {});
    if (this.#state !== undefined && this.#state?.version === version) return;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async poll({ atMostEveryMs, whileRunningMs, whileIdleMs }: FollowPace): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#wakeup.wait(spread(isRunning(this.#state) ? whileRunningMs : whileIdleMs));
      if (signal.aborted) return;
      // A store that does not answer is asked again the next time.
      await this.#look().catch(() => {});
      await this.#wakeup.pause(atMostEveryMs);
    }
  }

  stop(): void {
    this.#stopping.abort();
    this.#unfollow();
    this.#unwatch();
  }

  async #look(): Promise<void> {
    if (!this.#state) return;
    const creator = { userId: this.#state.thread.userId };
    await this.reach(await this.#sources.store.threadVersion(this.#organizationId, this.#threadId, creator));
  }

  async #load(): Promise<void> {
    const { store } = this.#sources;
    const found = await store.getThread(this.#organizationId, this.#threadId);
    if (found === undefined || found.thread.deletedAt !== null) return this.#change(null);
    const before = this.#state;
    const details =
      before && threadNews(before, found) !== 'more'
        ? before.details
        : await loadReplyDetails(store, this.#organizationId, this.#threadId);
    const messages = keepUnchanged(before?.messages ?? [], found.messages);
    this.#change({ ...found, messages, status: deriveThreadStatus(messages), details });
  }

  #change(state: FollowedState | null): void {
    if (this.#stopping.signal.aborted) return;
    // The poller may be in the long wait of an idle thread.
    if (isRunning(state) && !isRunning(this.#state)) this.#wakeup.wake();
    this.#state = state;
    this.#unwatch();
    this.#unwatch = this.#watchReply(state?.status.activeMessageId ?? null);
    for (const changed of [...this.followers]) changed();
  }

  /** The end of a reply is signalled at once, also when another node wrote it. */
  #watchReply(messageId: ThreadStatus['activeMessageId']): () => void {
    if (messageId === null) return () => {};
    const reply = { organizationId: this.#organizationId, threadId: this.#threadId, messageId };
    return this.#sources.replySignals.watch(reply, this.#wakeup.wake);
  }
}

function isRunning(state: FollowedState | null | undefined): boolean {
  return state?.status.state === 'in_progress';
}

/** Up to a quarter shorter or longer, so that pollers that started together do not keep reading together. */
function spread(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
