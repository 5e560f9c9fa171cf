import { conversationBefore } from '../domain/conversation.ts';
import type { OrganizationId } from '../domain/id.ts';
import { retryDelayMs, sharePlaces } from '../domain/reply.ts';
import type { ClaimedReply } from '../storage/store.ts';
import type { Context } from '../usecases/context.ts';
import { replyFailedNote } from '../usecases/reply-failed-note.ts';
import type { AttemptOutcome } from '../usecases/telemetry.ts';
import { Draft } from './draft.ts';
import { type Model, ModelError, type ReplyRequest } from './model.ts';
import { persistently } from './persistently.ts';

export interface WorkerSettings {
  /** Replies written at once. */
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly attemptsMax: number;
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
    await context.store.releaseOrphanedReplies();
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
    const draft = new Draft(store, reply, {
      everyMs: this.#progressEveryMs(),
      now,
      kept: () => threadSignals.changed(reply.threadId),
      lost,
    });
    try {
      const request = await persistently(() => this.#requestFor(running));
      for await (const event of untilAborted(this.#model.reply(request), abort.signal)) draft.take(event);
      unwatch();
      // Its token keeps it from being written over what came after it.
      if (!(await persistently(() => draft.settle(this.#model.name)))) return 'stopped';
      replySignals.replyEnded(reply);
      return 'completed';
    } catch (error) {
      unwatch();
      return await this.#endEarly(running, draft, error);
    } finally {
      draft.close();
    }
  }

  async #endEarly(running: Running, draft: Draft, error: unknown): Promise<AttemptOutcome> {
    const { reply } = running;
    const { store, replySignals, threadSignals } = this.#context;
    draft.close();
    if (running.ended === 'stopping') await store.releaseReply(reply);
    if (running.ended !== undefined) return 'stopped';
    const failure = error instanceof ModelError ? error.message : unexpectedFailure;
    const delayMs = this.#retryDelayMs(running, error);
    if (delayMs !== undefined) {
      this.#log.info({ failure, delay_ms: delayMs, ...nameForLog(reply) }, 'reply will be tried again');
      if (!(await store.retryReply(reply, { delayMs, failure }))) return 'stopped';
      threadSignals.changed(reply.threadId);
      return 'retried';
    }
    // Of an error whose kind is known its sentence is enough; any other is a fault in here, and wants its stack.
    if (error instanceof ModelError) this.#log.warn({ failure, ...nameForLog(reply) }, 'reply failed');
    else this.#log.error({ err: error, ...nameForLog(reply) }, 'reply failed');
    const note = replyFailedNote(this.#context, reply, failure);
    if (!(await draft.fail(this.#model.name, failure, note))) return 'stopped';
    replySignals.replyEnded(reply);
    return 'failed';
  }

  #retryDelayMs({ reply, beganMs }: Running, error: unknown): number | undefined {
    if (!(error instanceof ModelError) || !error.transient) return undefined;
    const remainingMs = reply.remainingMs - (performance.now() - beganMs);
    const failed = { attempts: reply.attempts + 1, retryAfterMs: error.retryAfterMs, remainingMs };
    return retryDelayMs(failed, this.#settings.attemptsMax, Math.random());
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

  /** After a pause: whoever sweeps next would find leases that have run out although we live. */
  async renewIfLate(): Promise<void> {
    if (performance.now() - this.#renewedMs > this.#settings.leaseMs / 2) await this.#renew();
  }

  async #renew(): Promise<void> {
    this.#renewedMs = performance.now();
    const running = new Map([...this.#running].map((one) => [one.reply, one]));
    const claims = [...running.keys()];
    try {
      for (let from = 0; from < claims.length; from += renewedAtOnce) {
        const some = claims.slice(from, from + renewedAtOnce);
        const lost = await this.#context.store.renewReplies(some, this.#settings.leaseMs);
        for (const claim of lost) end(running.get(claim as ClaimedReply), 'lost');
      }
    } catch (error) {
      // The next heartbeat tries again; if none succeeds the leases run out.
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

function nameForLog({ traceId, threadId, messageId, organizationId }: ClaimedReply) {
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
