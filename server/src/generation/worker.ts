import { conversationBefore } from '../domain/conversation.ts';
import type { OrganizationId } from '../domain/id.ts';
import { retryDelayMs, sharePlaces } from '../domain/reply.ts';
import type { ClaimedReply, FailedReply } from '../storage/store.ts';
import type { Context } from '../usecases/context.ts';
import { releaseOrphanedReplies, replyFailedNote } from '../usecases/replies/tend-replies.ts';
import type { AttemptOutcome } from '../usecases/telemetry.ts';
import { Draft } from './draft.ts';
import { type Model, ModelError, type ReplyRequest } from './model.ts';
import { retryStore } from './retry-store.ts';

export interface WorkerSettings {
  /** Replies written at once. */
  readonly concurrency: number;
  readonly leaseMs: number;
}

export interface WorkerLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

interface Running {
  readonly reply: ClaimedReply;
  readonly abort: AbortController;
  readonly beganMs: number;
  /** Why it was aborted; undefined while it was not. */
  ended: 'lost' | 'stopping' | undefined;
  done: Promise<void>;
}

/** What people are told of a fault in here: its own words may hold anything, and go to the log only. */
const unexpectedFailure = 'Something went wrong inside the service; its log says more, by the trace id.';

/** A process that stops tries for this long to hand a reply back to a store that is away. */
const releaseWithinMs = 5_000;

const timerMsMax = 2 ** 31 - 1;

/** So many leases are renewed in one commit: ten thousand at once would hold up everybody else. */
const renewedAtOnce = 500;

/**
 * Writes replies: claims them from the store, asks the model, keeps what comes. Nothing is held in the store while the
 * model thinks but the claim, and that runs out by itself should this process die. Somebody has to say when there is
 * something to do (`wake`): the signals of this process, and `tendReplies` now and then.
 */
export class ReplyWorker {
  readonly #context: Context;
  readonly #model: Model;
  readonly #settings: WorkerSettings;
  readonly #log: WorkerLog;
  readonly #running = new Set<Running>();
  readonly #runningOf = new Map<OrganizationId, number>();
  readonly #heartbeat: NodeJS.Timeout;
  #lastServed: OrganizationId | undefined;
  #claiming: Promise<void> | undefined;
  #woken = false;
  /** Whether the last look left something waiting, for want of a place. */
  #moreWaiting = false;
  #stopping = false;
  #renewedMs = performance.now();

  private constructor(context: Context, model: Model, settings: WorkerSettings, log: WorkerLog) {
    this.#context = context;
    this.#model = model;
    this.#settings = settings;
    this.#log = log;
    this.#heartbeat = setInterval(() => void this.#renew(), settings.leaseMs / 3);
  }

  /** Begins with what a worker that died here left behind. */
  static async start(
    context: Context,
    model: Model,
    settings: WorkerSettings,
    log: WorkerLog,
  ): Promise<ReplyWorker> {
    for (const reply of await releaseOrphanedReplies(context)) {
      log.warn({ failure: reply.failure, ...nameForLog(reply) }, 'reply failed');
    }
    const worker = new ReplyWorker(context, model, settings, log);
    context.replySignals.onReplyWaiting(() => worker.wake());
    worker.wake();
    return worker;
  }

  /** Says that a reply may be waiting. */
  wake(): void {
    this.#woken = true;
    if (this.#claiming !== undefined || this.#stopping) return;
    this.#claiming = this.#claimAll().finally(() => {
      this.#claiming = undefined;
      // Woken after the last look and before this line: nobody else would look again.
      if (this.#woken) this.wake();
    });
  }

  /** Hands back what is not finished, at no cost of an attempt: another process, or the next start, begins it anew. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#claiming;
    for (const running of this.#running) end(running, 'stopping');
    await Promise.all([...this.#running].map(({ done }) => done));
    clearInterval(this.#heartbeat);
  }

  async #claimAll(): Promise<void> {
    while (this.#woken && !this.#stopping) {
      this.#woken = false;
      try {
        while (await this.#claimSome());
      } catch (error) {
        this.#log.error({ err: error }, 'replies could not be claimed; the next look tries again');
      }
    }
  }

  /** Whether it claimed any: then there may be more. */
  async #claimSome(): Promise<boolean> {
    const { store } = this.#context;
    const free = this.#settings.concurrency - this.#running.size;
    // Those that have their fill are met, too, and must not stand in the way of the others.
    const lookedAt = free + this.#runningOf.size;
    const waiting = await store.organizationsWaiting(this.#lastServed, lookedAt);
    this.#moreWaiting = waiting.length > 0;
    if (this.#stopping || free === 0) return false;
    const shares = sharePlaces(free, waiting, (organization) => this.#runningOf.get(organization) ?? 0);
    if (shares.length === 0) return false;
    const claimed = await store.claimReplies(
      shares.map(({ organization, places }) => ({ organizationId: organization, limit: places })),
      this.#settings.leaseMs,
    );
    this.#lastServed = shares.at(-1)?.organization;
    for (const reply of claimed) this.#begin(reply);
    return claimed.length > 0;
  }

  #begin(reply: ClaimedReply): void {
    const running: Running = {
      reply,
      abort: new AbortController(),
      beganMs: performance.now(),
      ended: undefined,
      done: Promise.resolve(),
    };
    this.#running.add(running);
    this.#context.telemetry.replyBegan();
    this.#count(reply.organizationId, 1);
    running.done = this.#write(running)
      .catch((error: unknown): AttemptOutcome => {
        // No retry here: the lease runs out and the reply is claimed again.
        this.#log.error({ err: error, ...nameForLog(reply) }, 'reply could not be kept');
        return 'stopped';
      })
      .then((outcome) => this.#context.telemetry.replyLeft(outcome, performance.now() - running.beganMs))
      .finally(() => {
        this.#running.delete(running);
        this.#count(reply.organizationId, -1);
        if (this.#moreWaiting) this.wake();
      });
  }

  #count(organization: OrganizationId, change: number): void {
    const count = (this.#runningOf.get(organization) ?? 0) + change;
    if (count === 0) this.#runningOf.delete(organization);
    else this.#runningOf.set(organization, count);
  }

  async #write(running: Running): Promise<AttemptOutcome> {
    const { reply, abort } = running;
    const { store, replySignals, threadSignals, now } = this.#context;
    const lost = () => end(running, 'lost');
    const unwatch = replySignals.watch(reply, lost);
    // Counted from the claim, by a clock that nobody sets. The sweep fails the reply.
    const deadline = setTimeout(lost, Math.min(reply.remainingMs, timerMsMax));
    const draft = new Draft(store, reply, {
      everyMs: this.#progressEveryMs(),
      now,
      kept: () => threadSignals.changed(reply.threadId),
      lost,
    });
    try {
      const request = await this.#persist(running, () => this.#requestFor(running));
      for await (const event of untilAborted(this.#model.reply(request), abort.signal)) draft.take(event);
      unwatch();
      // Its token keeps it from being written over what came after it.
      if (!(await this.#persist(running, () => draft.settle(this.#model.name)))) return 'stopped';
      replySignals.replyEnded(reply);
      return 'completed';
    } catch (error) {
      unwatch();
      draft.close();
      return await this.#endEarly(running, draft, error);
    } finally {
      clearTimeout(deadline);
      draft.close();
    }
  }

  /** Until the reply is aborted: at its deadline, when it is lost, or when the worker stops. */
  #persist<T>({ reply, abort }: Running, call: () => Promise<T>): Promise<T> {
    return retryStore(call, abort.signal, (error) =>
      this.#log.warn({ err: error, ...nameForLog(reply) }, 'the store did not answer; the reply tries again'),
    );
  }

  async #endEarly(running: Running, draft: Draft, error: unknown): Promise<AttemptOutcome> {
    if (!running.abort.signal.aborted) {
      try {
        return await this.#giveUp(running, draft, error);
      } catch (fault) {
        if (!running.abort.signal.aborted) throw fault;
      }
    }
    if (running.ended === 'stopping') {
      const release = () => this.#context.store.releaseReply(running.reply);
      await retryStore(release, AbortSignal.timeout(releaseWithinMs));
    }
    return 'stopped';
  }

  /** Ends an attempt that failed: the reply waits for its next attempt, or has failed. */
  async #giveUp(running: Running, draft: Draft, error: unknown): Promise<AttemptOutcome> {
    const { reply } = running;
    const { store, replySignals, threadSignals } = this.#context;
    const failure = error instanceof ModelError ? error.message : unexpectedFailure;
    const delayMs = this.#retryDelayMs(running, error);
    if (delayMs !== undefined) {
      this.#log.info({ failure, delay_ms: delayMs, ...nameForLog(reply) }, 'reply will be tried again');
      const retry = () => store.retryReply(reply, { delayMs, failure });
      if (!(await this.#persist(running, retry))) return 'stopped';
      threadSignals.changed(reply.threadId);
      return 'retried';
    }
    // Of an error whose kind is known its sentence is enough; any other is a fault in here, and wants its stack.
    if (error instanceof ModelError) this.#log.warn({ failure, ...nameForLog(reply) }, 'reply failed');
    else this.#log.error({ err: error, ...nameForLog(reply) }, 'reply failed');
    const note = replyFailedNote(this.#context, reply, failure);
    if (!(await this.#persist(running, () => draft.fail(this.#model.name, failure, note)))) return 'stopped';
    replySignals.replyEnded(reply);
    return 'failed';
  }

  #retryDelayMs({ reply, beganMs }: Running, error: unknown): number | undefined {
    if (!(error instanceof ModelError) || !error.transient) return undefined;
    const remainingMs = reply.remainingMs - (performance.now() - beganMs);
    const failed = { attempts: reply.attempts + 1, retryAfterMs: error.retryAfterMs, remainingMs };
    return retryDelayMs(failed, this.#context.limits.replyAttempts, Math.random());
  }

  async #requestFor({ reply, abort }: Running): Promise<ReplyRequest> {
    const { organizationId, threadId, messageId, accountId, attempts } = reply;
    const found = await this.#context.store.getThread(organizationId, threadId);
    const conversation = conversationBefore(found?.messages ?? [], messageId);
    return { organizationId, accountId, conversation, attempt: attempts + 1, signal: abort.signal };
  }

  /** A few times a second; with thousands of replies under way less often, so that writing them leaves time for others. */
  #progressEveryMs(): number {
    return Math.max(200, this.#running.size / 5);
  }

  /**
   * Renews where the last renewal is too long ago: after a pause of this process, or while the store was away. Otherwise
   * the next sweep would end our leases although we live.
   */
  async renewIfLate(): Promise<void> {
    if (performance.now() - this.#renewedMs > this.#settings.leaseMs / 2) await this.#renew();
  }

  async #renew(): Promise<void> {
    const beganMs = performance.now();
    const running = new Map([...this.#running].map((one) => [one.reply, one]));
    const claims = [...running.keys()];
    try {
      for (let from = 0; from < claims.length; from += renewedAtOnce) {
        const some = claims.slice(from, from + renewedAtOnce);
        const lost = await this.#context.store.renewReplies(some, this.#settings.leaseMs);
        for (const claim of lost) end(running.get(claim as ClaimedReply), 'lost');
      }
      this.#renewedMs = beganMs;
    } catch (error) {
      // Tried again with the next heartbeat, or before the next sweep. If none succeeds the leases run out.
      this.#log.error({ err: error }, 'leases could not be renewed');
    }
  }
}

/** The first reason counts: a reply that was cancelled is not handed back. */
function end(running: Running | undefined, why: 'lost' | 'stopping'): void {
  if (running === undefined || running.ended !== undefined) return;
  running.ended = why;
  running.abort.abort(
    new Error(why === 'lost' ? 'The reply was cancelled or taken over.' : 'The worker stops.'),
  );
}

function nameForLog({ traceId, threadId, messageId, organizationId }: Omit<FailedReply, 'failure'>) {
  return { trace_id: traceId, thread: threadId, message: messageId, organization: organizationId };
}

/** What a model tells, up to the moment of the abort: one that does not listen to the signal keeps nobody waiting. */
async function* untilAborted<T>(events: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = events[Symbol.asyncIterator]();
  let refuse: (reason: unknown) => void = () => {};
  signal.addEventListener('abort', () => refuse(signal.reason), { once: true });
  try {
    for (;;) {
      // Not a race with one long-lived promise: that would keep every event of the reply alive.
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        refuse = reject;
        if (signal.aborted) reject(signal.reason);
        else iterator.next().then(resolve, reject);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited: it ends when it ends.
    iterator.return?.()?.catch(() => {});
  }
}
