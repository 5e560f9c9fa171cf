import { type ConversationTurn, conversationBefore } from '../domain/conversation.ts';
import type { OrganizationId } from '../domain/id.ts';
import { timerMsMax } from '../domain/limits.ts';
import { retryDelayMs, shareSlots } from '../domain/reply.ts';
import type { ClaimedReply, ReplyClaim } from '../storage/store.ts';
import type { Context } from '../usecases/context.ts';
import type { ReplyTaker, ReservedSlot } from '../usecases/replies/reply-signals.ts';
import { releaseOrphanedReplies, replyFailedNote, replyForLog } from '../usecases/replies/tend-replies.ts';
import type { AttemptOutcome, Log } from '../usecases/telemetry.ts';
import { type Model, ModelError, untilAborted } from './model.ts';
import { type ReplyWriter, replyWriter } from './reply-writer.ts';
import { retryStore } from './retry-store.ts';

export interface WorkerSettings {
  readonly concurrency: number;
  readonly leaseMs: number;
}

interface Running {
  readonly reply: ClaimedReply;
  /** The only message so far. Undefined if the conversation has to be read. */
  readonly prompt: string | undefined;
  readonly abort: AbortController;
  readonly beganMs: number;
}

/** Why a reply was aborted. Only the first reason counts: a cancelled reply is not released. */
const lost = new Error('The reply was cancelled or taken over.');
const stopping = new Error('The worker is stopping.');

/** Shown for unexpected errors. Their own messages may contain anything, so they only go to the log. */
const unexpectedFailure =
  'Something went wrong inside the service. The operator can find the cause in its log by the trace ID.';

/** How long a stopping process tries to release a reply while the store is unavailable. */
const releaseWithinMs = 5_000;

/** Tokens of created replies are random below this, so that another claim of the same reply gets a different one. */
const tokenMax = 2 ** 47;

/** Leases renewed per commit: ten thousand in one would block other writes. */
const renewedAtOnce = 500;

/**
 * Generates replies: claims them from the store, asks the model and stores its progress. While the model works, only the
 * claim is held, and it expires if this process dies. The worker does not poll: the signals of this process and
 * `tendReplies` wake it.
 */
export class ReplyWorker implements ReplyTaker {
  readonly #context: Context;
  readonly #model: Model;
  readonly #settings: WorkerSettings;
  readonly #log: Log;
  readonly #running = new Map<ReplyClaim, Running & { readonly done: Promise<void> }>();
  /** Slots for running replies and for those that are being created, by organization. */
  readonly #occupied = new Map<OrganizationId, number>();
  /** Slots that are neither occupied nor about to be filled by a claim. */
  #free: number;
  readonly #stopHeartbeat: () => void;
  #lastServed: OrganizationId | undefined;
  #claiming: Promise<void> | undefined;
  #woken = false;
  /** Whether replies were still waiting after the last claim. */
  #moreWaiting = false;
  #stopping = false;
  #renewedMs: number;
  #isRenewalFailing = false;

  private constructor(context: Context, model: Model, settings: WorkerSettings, log: Log) {
    this.#context = context;
    this.#model = model;
    this.#settings = settings;
    this.#log = log;
    this.#free = settings.concurrency;
    this.#renewedMs = context.timers.steadyMs();
    this.#stopHeartbeat = context.timers.every(settings.leaseMs / 3, () => void this.#renew());
  }

  /** First releases the replies of a worker that has died, if the store can tell that no other one is running. */
  static async start(context: Context, model: Model, settings: WorkerSettings, log: Log) {
    await releaseOrphanedReplies(context, log);
    const worker = new ReplyWorker(context, model, settings, log);
    context.replySignals.taker = worker;
    worker.wake();
    return worker;
  }

  wake(): void {
    this.#woken = true;
    if (!this.#stopping) this.#claiming ??= this.#claimAll();
  }

  reserve(organization: OrganizationId): ReservedSlot | undefined {
    if (this.#stopping || this.#moreWaiting) return undefined;
    if (shareSlots(this.#free, [organization], this.#countOf).length === 0) return undefined;
    const leave = this.#occupy(organization);
    const token = 1 + Math.floor(this.#context.timers.random() * tokenMax);
    return {
      claim: { token, leaseMs: this.#settings.leaseMs },
      take: (created) => {
        leave();
        if (created) this.#begin(created.reply, created.prompt);
      },
      abandon: (reply) => {
        leave();
        // Once the lease has expired there is nothing left to release.
        this.#release(reply, this.#settings.leaseMs).catch(() => {});
      },
    };
  }

  /** Releases unfinished replies without counting an attempt. Another process, or the next start, generates them again. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#claiming;
    for (const { abort } of this.#running.values()) abort.abort(stopping);
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    this.#stopHeartbeat();
    await this.#model.close?.();
  }

  async #claimAll(): Promise<void> {
    while (this.#woken && !this.#stopping) {
      this.#woken = false;
      await this.#claimSome().catch((error: unknown) => {
        this.#log.error({ err: error }, 'replies could not be claimed; the next wake-up tries again');
      });
    }
    this.#claiming = undefined;
  }

  async #claimSome(): Promise<void> {
    const { store } = this.#context;
    // Organizations that already hold their share are listed too, and must not hide the others.
    const listed = this.#free + this.#occupied.size;
    const waiting = await store.organizationsWaiting(this.#lastServed, listed);
    this.#moreWaiting = waiting.length > 0;
    if (this.#stopping) return;
    // Counted after the wait, because creates may have reserved slots in the meantime.
    const free = this.#free;
    const shares = shareSlots(free, waiting, this.#countOf);
    if (shares.length === 0) return;
    this.#free = 0;
    const claimed = await store.claimReplies(shares, this.#settings.leaseMs).finally(() => {
      this.#free += free;
    });
    this.#lastServed = shares.at(-1)?.organizationId;
    for (const reply of claimed) this.#begin(reply);
    // There may be more.
    if (claimed.length > 0) this.#woken = true;
  }

  #begin(reply: ClaimedReply, prompt?: string): void {
    const { tracing, telemetry, timers } = this.#context;
    const running: Running = { reply, prompt, abort: new AbortController(), beganMs: timers.steadyMs() };
    const leave = this.#occupy(reply.organizationId);
    telemetry.replyBegan();
    const done = tracing
      .afterRequest(reply.traceId, 'reply', { 'skein.model': this.#model.name }, () => this.#write(running))
      .catch((error: unknown): AttemptOutcome => {
        // No retry here: the lease expires and the reply is claimed again.
        this.#log.error({ err: error, ...replyForLog(reply) }, 'reply could not be stored');
        return 'stopped';
      })
      .then((outcome) => {
        telemetry.replyLeft(outcome, timers.steadyMs() - running.beganMs, reply.organizationId);
        this.#running.delete(reply);
        leave();
      });
    this.#running.set(reply, { ...running, done });
  }

  /** Takes a slot for a reply of the organization. Returns a function that frees it. */
  #occupy(organization: OrganizationId): () => void {
    const change = (by: 1 | -1) => {
      this.#free -= by;
      const count = this.#countOf(organization) + by;
      if (count === 0) this.#occupied.delete(organization);
      else this.#occupied.set(organization, count);
    };
    change(1);
    return () => {
      change(-1);
      if (this.#moreWaiting) this.wake();
    };
  }

  readonly #countOf = (organization: OrganizationId) => this.#occupied.get(organization) ?? 0;

  async #write(running: Running): Promise<AttemptOutcome> {
    const { reply, abort } = running;
    const { replySignals, timers } = this.#context;
    const lose = () => abort.abort(lost);
    const unwatch = replySignals.watch(reply, lose);
    // Measured from the claim with a monotonic clock. The sweep marks the reply as failed.
    const cancelDeadline = timers.after(Math.min(reply.remainingMs, timerMsMax), lose);
    // Less often with thousands of running replies, to limit the writes.
    const writeEveryMs = Math.max(200, this.#running.size / 5);
    const writer = replyWriter(this.#context, reply, this.#model.name, writeEveryMs, lose);
    const written = this.#generate(running, writer).finally(() => {
      unwatch();
      writer.close();
    });
    try {
      return await written.then(
        () => this.#settle(running, 'completed', writer.complete),
        (error) => this.#giveUp(running, writer, error),
      );
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      if (abort.signal.reason === stopping) await this.#release(reply);
      return 'stopped';
    } finally {
      cancelDeadline();
    }
  }

  async #generate(running: Running, writer: ReplyWriter): Promise<void> {
    const { organizationId, accountId, attempts } = running.reply;
    const { signal } = running.abort;
    const conversation = await this.#persist(running, () => this.#conversationOf(running));
    const request = { organizationId, accountId, conversation, attempt: attempts + 1, signal };
    await this.#context.tracing.span('model', {}, async () => {
      for await (const event of untilAborted(this.#model.reply(request), signal)) writer.take(event);
    });
  }

  async #settle(running: Running, outcome: AttemptOutcome, settle: () => Promise<boolean>) {
    const { replySignals, threadSignals } = this.#context;
    // The claim's token prevents overwriting a successor's reply.
    if (!(await this.#persist(running, settle))) return 'stopped';
    if (outcome === 'retried') threadSignals.changed(running.reply.threadId);
    else replySignals.replyEnded(running.reply);
    return outcome;
  }

  /** Retries until the reply is aborted: at its deadline, when it is lost or when the worker stops. */
  #persist<T>({ reply, abort }: Running, call: () => Promise<T>): Promise<T> {
    const text = 'the store is unavailable; the reply will be stored when it is back';
    const onFailure = (error: unknown) => this.#log.warn({ err: error, ...replyForLog(reply) }, text);
    return retryStore(call, abort.signal, onFailure, this.#context.timers);
  }

  async #release(reply: ReplyClaim, withinMs = releaseWithinMs): Promise<void> {
    const { store, timers } = this.#context;
    const tooLate = new AbortController();
    const cancelTimer = timers.after(withinMs, () => tooLate.abort());
    await retryStore(() => store.releaseReply(reply), tooLate.signal, undefined, timers).finally(cancelTimer);
  }

  async #giveUp(running: Running, writer: ReplyWriter, error: unknown): Promise<AttemptOutcome> {
    const { reply, abort } = running;
    abort.signal.throwIfAborted();
    const failure = error instanceof ModelError ? error.message : unexpectedFailure;
    const delayMs = this.#retryDelayMs(running, error);
    if (delayMs !== undefined) {
      this.#log.info({ failure, delay_ms: delayMs, ...replyForLog(reply) }, 'reply will be tried again');
      const retry = () => this.#context.store.releaseReply(reply, { delayMs, failure });
      return this.#settle(running, 'retried', retry);
    }
    // A `ModelError` explains itself. Any other error is a bug, so its stack is logged.
    if (error instanceof ModelError) this.#log.warn({ failure, ...replyForLog(reply) }, 'reply failed');
    else this.#log.error({ err: error, ...replyForLog(reply) }, 'reply failed');
    const note = replyFailedNote(this.#context, reply, failure);
    return this.#settle(running, 'failed', () => writer.fail(failure, note));
  }

  #retryDelayMs({ reply, beganMs }: Running, error: unknown): number | undefined {
    if (!(error instanceof ModelError) || !error.transient) return undefined;
    const remainingMs = reply.remainingMs - (this.#context.timers.steadyMs() - beganMs);
    const failed = { attempts: reply.attempts + 1, retryAfterMs: error.retryAfterMs, remainingMs };
    return retryDelayMs(failed, this.#context.limits.replyAttempts, this.#context.timers.random());
  }

  async #conversationOf({ reply, prompt }: Running): Promise<readonly ConversationTurn[]> {
    const { store, timers } = this.#context;
    if (prompt === undefined) {
      const thread = await store.getThread(reply.organizationId, reply.threadId);
      return conversationBefore(thread?.messages ?? [], reply.messageId);
    }
    // The create is answered first: a model can block the process, or end it.
    await new Promise<void>((resolve) => timers.after(0, resolve));
    return [{ role: 'user', content: prompt }];
  }

  /** Renews late leases after a pause: otherwise the next sweep would expire those of a living worker. */
  async renewIfLate(): Promise<void> {
    if (this.#context.timers.steadyMs() - this.#renewedMs > this.#settings.leaseMs / 2) await this.#renew();
  }

  async #renew(): Promise<void> {
    const beganMs = this.#context.timers.steadyMs();
    const claims = [...this.#running.keys()];
    try {
      for (let from = 0; from < claims.length; from += renewedAtOnce) {
        const some = claims.slice(from, from + renewedAtOnce);
        const ended = await this.#context.store.renewReplies(some, this.#settings.leaseMs);
        for (const claim of ended) this.#running.get(claim)?.abort.abort(lost);
      }
      this.#renewedMs = beganMs;
      this.#isRenewalFailing = false;
    } catch (error) {
      // Retried with the next heartbeat or before the next sweep, up to five times a second. If all fail, the leases expire.
      if (!this.#isRenewalFailing) this.#log.error({ err: error }, 'leases could not be renewed; retrying');
      this.#isRenewalFailing = true;
    }
  }
}
