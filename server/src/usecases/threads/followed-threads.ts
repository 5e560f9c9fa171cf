import type { Signals } from '../../../../runtime/src/pure/signals.ts';
import { createWakeup, type Timers } from '../../../../runtime/src/timers.ts';
import { nextTurn } from '../../../../runtime/src/turns.ts';
import { threadNotFound } from '../../domain/errors.ts';
import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import type { Message } from '../../domain/message.ts';
import { isRunning } from '../../domain/reply.ts';
import type { ReplyName, Store, ThreadHead } from '../../storage/port/store.ts';

/** How often a thread is read. Other processes write, too, and do not always send a signal. */
export interface FollowPace {
  /** Never more often than this, however many signals arrive. */
  readonly atMostEveryMs: number;
  readonly whileRunningMs: number;
  readonly whileIdleMs: number;
}

const usualPace: FollowPace = { atMostEveryMs: 100, whileRunningMs: 500, whileIdleMs: 3000 };

interface Sources {
  readonly store: Pick<Store, 'threadVersion' | 'getThreadHead' | 'listMessages'>;
  /** Calls `ended` once when the reply has ended. Returns a function that stops watching. */
  readonly watchReply: (reply: ReplyName, ended: () => void) => () => void;
  readonly threadSignals: Signals<ThreadId>;
  readonly timers: Timers;
}

/** A stream holds no more than this, or one message, while its peer does not read. */
const partSize = { limit: 64, bytesMax: 131_072 };

export type FollowedThreads = ReturnType<typeof createFollowedThreads>;

/** Threads that somebody follows in this process. Each has one poller, however many follow it. */
export function createFollowedThreads(sources: Sources, pace: FollowPace = usualPace) {
  const pollers = new Map<string, ThreadPoller>();
  return {
    /** Calls `changed` whenever the poller has a new state, until `leave` is called. */
    follow(organizationId: OrganizationId, threadId: ThreadId, changed: () => void) {
      const key = `${organizationId} ${threadId}`;
      const poller = pollers.get(key) ?? new ThreadPoller(sources, organizationId, threadId);
      if (!pollers.has(key)) void poller.poll(pace);
      pollers.set(key, poller);
      poller.followers.add(changed);
      const leave = () => {
        if (!poller.followers.delete(changed) || poller.followers.size > 0) return;
        pollers.delete(key);
        poller.stop();
      };
      return { poller, leave };
    },
  };
}

/** Reads one thread for all who follow it, and only when its version has changed. */
class ThreadPoller {
  readonly followers = new Set<() => void>();
  readonly #sources: Sources;
  readonly #name: readonly [OrganizationId, ThreadId];
  readonly #stopping = new AbortController();
  readonly #wakeup: ReturnType<typeof createWakeup>;
  readonly #unfollow: () => void;
  #unwatch = () => {};
  #state: ThreadHead | null | undefined;
  #loading: Promise<void> | undefined;
  /** Parts that a follower is sending. Others that need them meanwhile do not load and render them again. */
  readonly #parts = new Map<string, { readonly loading: Promise<readonly Message[]>; followers: number }>();

  constructor(sources: Sources, ...name: readonly [OrganizationId, ThreadId]) {
    this.#sources = sources;
    this.#name = name;
    this.#wakeup = createWakeup(this.#stopping.signal, sources.timers);
    this.#unfollow = sources.threadSignals.follow(name[1], this.#wakeup.wake);
  }

  /** Null once the thread was deleted. The latest reply has its text only while it is running. */
  get state(): ThreadHead | null {
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

  /** Only the latest reply ever changes, so parts are loaded at different times. Throws once `mayRead` is false. */
  async *parts(state: ThreadHead, mayRead: () => boolean): AsyncGenerator<readonly Message[], void> {
    const { version, messageCount, latest } = state;
    const ended = isRunning(latest.status) ? messageCount - 1 : messageCount;
    for (let skip = 0; skip < messageCount; ) {
      if (!mayRead()) throw threadNotFound();
      const part =
        skip < ended
          ? this.#share(`ended ${ended} ${skip}`, () => this.#loadEnded(skip, ended))
          : this.#share(`running ${version}`, async () => [latest]);
      try {
        const loaded = await part.loading;
        if (loaded.length === 0) throw threadNotFound();
        yield loaded;
        skip += loaded.length;
      } finally {
        part.leave();
      }
    }
  }

  async poll({ atMostEveryMs, whileRunningMs, whileIdleMs }: FollowPace): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // Up to a quarter shorter or longer, so that pollers that started together do not keep reading together.
      const spread = 0.75 + this.#sources.timers.random() / 2;
      await this.#wakeup.wait(spread * (runs(this.#state) ? whileRunningMs : whileIdleMs));
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
    await this.reach(await this.#sources.store.threadVersion(...this.#name, creator));
  }

  async #load(): Promise<void> {
    const found = await this.#sources.store.getThreadHead(...this.#name);
    if (found === undefined || found.thread.deletedAt !== null) return this.#change(null);
    const withoutText = { content: '', steps: [], sources: null, details: undefined };
    const latest = { ...found.latest, ...(!isRunning(found.latest.status) && withoutText) };
    this.#change({ ...found, latest });
  }

  #share(key: string, load: () => Promise<readonly Message[]>) {
    const part = this.#parts.get(key) ?? { loading: load(), followers: 0 };
    this.#parts.set(key, part);
    part.followers += 1;
    const leave = () => {
      part.followers -= 1;
      if (part.followers === 0) this.#parts.delete(key);
    };
    return { loading: part.loading, leave };
  }

  /** In a turn of its own, because it blocks the event loop on SQLite. */
  async #loadEnded(skip: number, ended: number): Promise<readonly Message[]> {
    await nextTurn(this.#name[0]);
    const part = { ...partSize, skip, limit: Math.min(partSize.limit, ended - skip) };
    return this.#sources.store.listMessages(...this.#name, part);
  }

  #change(state: ThreadHead | null): void {
    if (this.#stopping.signal.aborted) return;
    // The poller may be in the long wait of an idle thread.
    if (runs(state) && !runs(this.#state)) this.#wakeup.wake();
    this.#state = state;
    this.#unwatch();
    this.#unwatch = this.#watchReply(state);
    for (const changed of [...this.followers]) changed();
  }

  /** The end of a reply is signaled at once, even if another node wrote it. */
  #watchReply(state: ThreadHead | null): () => void {
    if (!runs(state)) return () => {};
    const [organizationId, threadId] = this.#name;
    const reply = { organizationId, threadId, messageId: state.latest.id };
    return this.#sources.watchReply(reply, this.#wakeup.wake);
  }
}

function runs(state: ThreadHead | null | undefined): state is ThreadHead {
  return state ? isRunning(state.latest.status) : false;
}
