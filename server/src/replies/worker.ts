import { type ConversationTurn, conversationBefore } from '../domain/conversation.ts';
import type { OrganizationId } from '../domain/id.ts';
import { timerMsMax } from '../domain/limits.ts';
import type { Message } from '../domain/message.ts';
import { retryDelayMs, shareSlots, suspectSlots, takeTurns } from '../domain/reply.ts';
import type { AttemptOutcome, Log } from '../domain/telemetry.ts';
import { type Model, ModelError, untilAborted } from '../generation/model.ts';
import { retryStore } from '../generation/retry-store.ts';
import type { ClaimedReply, ReplyClaim } from '../storage/port/store.ts';
import type { Context } from '../usecases/context.ts';
import { messagesInTurns } from '../usecases/threads/get-thread.ts';
import type { ReplyTaker, ReservedSlot } from './reply-signals.ts';
import { ReplySlots } from './reply-slots.ts';
import { type ReplyWriter, replyWriter } from './reply-writer.ts';
import { releaseOrphanedReplies, replyFailedNote, replyForLog } from './tend-replies.ts';

export interface WorkerSettings {
  readonly concurrency: number;
  readonly leaseMs: number;
}

export interface Models {
  readonly usual: Model;
  /** Writes each suspect in a process of its own. */
  readonly suspects: Model;
}

interface Running {
  readonly reply: ClaimedReply;
  readonly model: Model;
  /** The only message so far. Undefined if the conversation has to be read. */
  readonly prompt: string | undefined;
  readonly abort: AbortController;
  readonly beganMs: number;
}

/** Why a reply was aborted. Only the first reason counts: a cancelled reply is not released. */
const lost = new Error('The reply was cancelled or taken over.');
const stopping = new Error('The worker is stopping.');
const crashing = new Error('The process is in an unknown state and ends.');

/** Shown for unexpected errors. Their own messages may contain anything, so they only go to the log. */
const unexpectedFailure =
  'Something went wrong inside the service. The operator can find the cause in its log by the trace ID.';

/** How long a stopping process tries to release a reply while the store is unavailable. */
const releaseWithinMs = 5_000;

/** Tokens of created replies are random below this, so that another claim of the same reply gets a different one. */
const tokenMax = 2 ** 47;

/** Loaded at once for the conversation of a reply. */
const partOfThread = { limit: 64, bytesMax: 131_072 };

/** Leases renewed per commit: ten thousand in one would block other writes. */
const renewedAtOnce = 500;

/**
 * Generates replies: claims them from the store, asks the model and stores its progress. While the model works, only the
 * claim is held, and it expires if this process dies. Suspects have slots and a model of their own: no other reply waits for
 * them. The worker does not poll: the signals of this process and `tendReplies` wake it.
 */
export class ReplyWorker implements ReplyTaker {
  readonly #context: Context;
  readonly #models: Models;
  readonly #settings: WorkerSettings;
  readonly #log: Log;
  readonly #running = new Map<ReplyClaim, Running & { readonly done: Promise<void> }>();
  readonly #usual: ReplySlots;
  readonly #suspects: ReplySlots;
  readonly #stopHeartbeat: () => void;
  #renewedMs: number;
  #isRenewalFailing = false;

  private constructor(context: Context, models: Models, settings: WorkerSettings, log: Log) {
    const { concurrency, leaseMs } = settings;
    this.#context = context;
    this.#models = models;
    this.#settings = settings;
    this.#log = log;
    const shared = {
      store: context.store,
      leaseMs,
      failed: (error: unknown) =>
        log.error({ err: error }, 'failed to claim replies, retrying at the next wake-up'),
    };
    this.#usual = new ReplySlots({
      ...shared,
      queue: 'usual',
      slots: concurrency,
      share: shareSlots,
      begin: (reply) => this.#begin(reply, this.#usual, models.usual),
    });
    this.#suspects = new ReplySlots({
      ...shared,
      queue: 'suspects',
      slots: suspectSlots,
      share: takeTurns,
      begin: (reply) => this.#begin(reply, this.#suspects, models.suspects),
    });
    this.#renewedMs = context.timers.steadyMs();
    this.#stopHeartbeat = context.timers.every(leaseMs / 3, () => void this.#renew());
  }

  /** First releases the replies of a worker that has died, if the store can tell that no other one is running. */
  static async start(context: Context, models: Models, settings: WorkerSettings, log: Log) {
    await releaseOrphanedReplies(context, log);
    const worker = new ReplyWorker(context, models, settings, log);
    context.replySignals.taker = worker;
    worker.wake();
    return worker;
  }

  wake(): void {
    this.#usual.wake();
    this.#suspects.wake();
  }

  reserve(organization: OrganizationId): ReservedSlot | undefined {
    if (!this.#usual.isFreeFor(organization)) return undefined;
    const leave = this.#usual.occupy(organization);
    const token = 1 + Math.floor(this.#context.timers.random() * tokenMax);
    return {
      claim: { token, leaseMs: this.#settings.leaseMs },
      take: (created) => {
        leave();
        if (created) this.#begin(created.reply, this.#usual, this.#models.usual, created.prompt);
      },
      abandon: (reply) => {
        leave();
        // Once the lease has expired there is nothing left to release.
        this.#release(reply, undefined, this.#settings.leaseMs).catch(() => {});
      },
    };
  }

  /**
   * Releases unfinished replies without counting an attempt; `isCrash` counts one, as if the process had died. Another
   * process, or the next start, generates them again.
   */
  async stop(isCrash = false): Promise<void> {
    await Promise.all([this.#usual.stop(), this.#suspects.stop()]);
    for (const { abort } of this.#running.values()) abort.abort(isCrash ? crashing : stopping);
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    this.#stopHeartbeat();
    await Promise.all([this.#models.usual.close?.(), this.#models.suspects.close?.()]);
  }

  #begin(reply: ClaimedReply, slots: ReplySlots, model: Model, prompt?: string): void {
    const { tracing, telemetry, timers } = this.#context;
    const abort = new AbortController();
    const running: Running = { reply, model, prompt, abort, beganMs: timers.steadyMs() };
    const leave = slots.occupy(reply.organizationId);
    telemetry.replyBegan();
    const done = tracing
      .afterRequest(reply.traceId, 'reply', { 'skein.model': model.name }, () => this.#write(running))
      .catch((error: unknown): AttemptOutcome => {
        // No retry here: the lease expires and the reply is claimed again.
        this.#log.error({ err: error, ...replyForLog(reply) }, 'failed to store reply');
        return 'stopped';
      })
      .then((outcome) => {
        telemetry.replyLeft(outcome, timers.steadyMs() - running.beganMs, reply.organizationId);
        this.#running.delete(reply);
        leave();
      });
    this.#running.set(reply, { ...running, done });
  }

  async #write(running: Running): Promise<AttemptOutcome> {
    const { reply, model, abort } = running;
    const { replySignals, timers } = this.#context;
    const lose = () => abort.abort(lost);
    const unwatch = replySignals.watch(reply, lose);
    // Measured from the claim with a monotonic clock. The sweep marks the reply as failed.
    const cancelDeadline = timers.after(Math.min(reply.remainingMs, timerMsMax), lose);
    // Less often with thousands of running replies, to limit the writes.
    const writeEveryMs = Math.max(200, this.#running.size / 5);
    const writer = replyWriter(this.#context, reply, model.name, writeEveryMs, lose);
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
      if (abort.signal.reason === crashing) await this.#release(reply, 'crash');
      return 'stopped';
    } finally {
      cancelDeadline();
    }
  }

  async #generate(running: Running, writer: ReplyWriter): Promise<void> {
    const { organizationId, accountId, attempts } = running.reply;
    const { model, abort } = running;
    const { signal } = abort;
    const conversation = await this.#persist(running, () => this.#conversationOf(running));
    const request = { organizationId, accountId, conversation, attempt: attempts + 1, signal };
    await this.#context.tracing.span('model', {}, async () => {
      for await (const event of untilAborted(model.reply(request), signal)) writer.take(event);
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
    const text = 'failed to store reply, retrying';
    const onFailure = (error: unknown) => this.#log.warn({ err: error, ...replyForLog(reply) }, text);
    return retryStore(call, abort.signal, onFailure, this.#context.timers);
  }

  async #release(reply: ReplyClaim, why?: 'crash', withinMs = releaseWithinMs): Promise<void> {
    const { store, timers } = this.#context;
    const tooLate = new AbortController();
    const cancelTimer = timers.after(withinMs, () => tooLate.abort());
    await retryStore(() => store.releaseReply(reply, why), tooLate.signal, undefined, timers).finally(
      cancelTimer,
    );
  }

  async #giveUp(running: Running, writer: ReplyWriter, error: unknown): Promise<AttemptOutcome> {
    const { reply, abort } = running;
    abort.signal.throwIfAborted();
    const failure = error instanceof ModelError ? error.message : unexpectedFailure;
    const delayMs = this.#retryDelayMs(running, error);
    if (delayMs !== undefined) {
      this.#log.info({ failure, delay_ms: delayMs, ...replyForLog(reply) }, 'retrying reply');
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
    const { organizationId, threadId, messageId } = reply;
    if (prompt === undefined) {
      const messages: Message[] = [];
      for await (const part of messagesInTurns(store, organizationId, threadId, partOfThread)) {
        messages.push(...part);
        if (part.some(({ id }) => id === messageId)) break;
      }
      return conversationBefore(messages, messageId);
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
      if (!this.#isRenewalFailing) this.#log.error({ err: error }, 'failed to renew leases, retrying');
      this.#isRenewalFailing = true;
    }
  }
}
