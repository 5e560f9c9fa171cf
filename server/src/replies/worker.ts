import { shareSlots, suspectSlots, takeTurns } from '../domain/reply.ts';
import type { AttemptOutcome, Telemetry, Tracing } from '../domain/telemetry.ts';
import type { ClaimedReply, Replies, ReplyClaim, Threads } from '../storage/port/store.ts';
import { Attempt, type AttemptNeeds, releaseReply } from './attempt.ts';
import type { Model } from './model.ts';
import type { LocalWorker, ReplySignals } from './reply-signals.ts';
import { ReplySlots } from './reply-slots.ts';
import { replyForLog, reportCrashed } from './report-replies.ts';

export interface WorkerNeeds extends AttemptNeeds {
  readonly store: AttemptNeeds['store'] &
    Pick<Replies, 'organizationsWaiting' | 'claimReplies' | 'renewReplies' | 'releaseOrphanedReplies'> &
    Pick<Threads, 'createThread'>;
  readonly replySignals: ReplySignals;
  readonly telemetry: Pick<Telemetry, 'replyBegan' | 'replyLeft' | 'repliesCrashed'>;
  readonly tracing: Pick<Tracing, 'span' | 'afterRequest'>;
}

export interface WorkerSettings {
  readonly concurrency: number;
  readonly leaseMs: number;
  /** A reply that has failed this often is not retried. */
  readonly attemptsMax: number;
}

export interface Models {
  readonly usual: Model;
  /** Writes each suspect in a process of its own. */
  readonly suspects: Model;
}

interface Running {
  readonly attempt: Attempt;
  readonly done: Promise<void>;
}

/** Tokens of created replies are random below this, so that another claim of the same reply gets a different one. */
const tokenMax = 2 ** 47;

/** Leases renewed per commit: ten thousand in one would block other writes. */
const renewedAtOnce = 500;

/**
 * Generates replies: claims them from the store, asks the model and stores its progress. While the model works, only the
 * claim is held, and it expires if this process dies. Suspects have slots and a model of their own: no other reply waits for
 * them. The worker does not poll: the signals of this process and `tendReplies` wake it.
 */
export class ReplyWorker implements LocalWorker {
  readonly #needs: WorkerNeeds;
  readonly #models: Models;
  readonly #settings: WorkerSettings;
  readonly #running = new Map<ReplyClaim, Running>();
  readonly #usual: ReplySlots;
  readonly #suspects: ReplySlots;
  readonly #stopHeartbeat: () => void;
  #renewedMs: number;
  #isRenewalFailing = false;

  private constructor(needs: WorkerNeeds, models: Models, settings: WorkerSettings) {
    const { store, timers, log } = needs;
    const { concurrency, leaseMs } = settings;
    this.#needs = needs;
    this.#models = models;
    this.#settings = settings;
    const shared = {
      store,
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
    this.#renewedMs = timers.steadyMs();
    this.#stopHeartbeat = timers.every(leaseMs / 3, () => void this.#renew());
  }

  /** First releases the replies of a worker that has died, if the store can tell that no other one is running. */
  static async start(needs: WorkerNeeds, models: Models, settings: WorkerSettings): Promise<ReplyWorker> {
    reportCrashed(needs, await needs.store.releaseOrphanedReplies());
    const worker = new ReplyWorker(needs, models, settings);
    needs.replySignals.worker = worker;
    worker.wake();
    return worker;
  }

  wake(): void {
    this.#usual.wake();
    this.#suspects.wake();
  }

  createThread(...created: Parameters<Threads['createThread']>) {
    const [organizationId] = created;
    return this.#usual.isFreeFor(organizationId) ? this.#createClaimed(...created) : undefined;
  }

  async #createClaimed(...[organizationId, thread, authority]: Parameters<Threads['createThread']>) {
    const { store, timers } = this.#needs;
    const { leaseMs } = this.#settings;
    const { id: threadId, replyId: messageId, accountId, traceId, prompt, replyDeadlineMs } = thread;
    const token = 1 + Math.floor(timers.random() * tokenMax);
    const name = { organizationId, threadId, messageId, token };
    const leave = this.#usual.occupy(organizationId);
    try {
      const claimed = { ...thread, claim: { token, leaseMs } };
      const result = await store.createThread(organizationId, claimed, authority);
      leave();
      if (result !== 'unauthorized' && result.outcome === 'created') {
        const reply = { ...name, accountId, traceId, attempts: 0, remainingMs: replyDeadlineMs };
        this.#begin(reply, this.#usual, this.#models.usual, prompt);
      }
      return result;
    } catch (error) {
      leave();
      // The thread may have been created although the call failed. Once the lease has expired there is nothing to release.
      releaseReply(this.#needs, name, undefined, leaseMs).catch(() => {});
      throw error;
    }
  }

  /**
   * Releases unfinished replies without counting an attempt; a crash counts as if the process had died. Another process, or
   * the next start, generates them again.
   */
  async stop(why: 'shutdown' | 'crash' = 'shutdown'): Promise<void> {
    await Promise.all([this.#usual.stop(), this.#suspects.stop()]);
    for (const { attempt } of this.#running.values())
      attempt.abort(why === 'crash' ? 'crashing' : 'stopping');
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    this.#stopHeartbeat();
    await Promise.all([this.#models.usual.close?.(), this.#models.suspects.close?.()]);
  }

  #begin(reply: ClaimedReply, slots: ReplySlots, model: Model, prompt?: string): void {
    const { tracing, telemetry, timers, log } = this.#needs;
    const { attemptsMax } = this.#settings;
    // Less often with thousands of running replies, to limit the writes.
    const writeEveryMs = Math.max(200, this.#running.size / 5);
    const attempt = new Attempt(this.#needs, { reply, model, prompt, attemptsMax, writeEveryMs });
    const beganMs = timers.steadyMs();
    const leave = slots.occupy(reply.organizationId);
    telemetry.replyBegan();
    const done = tracing
      .afterRequest(reply.traceId, 'reply', { 'skein.model': model.name }, () => attempt.run())
      .catch((error: unknown): AttemptOutcome => {
        // No retry here: the lease expires and the reply is claimed again.
        log.error({ err: error, ...replyForLog(reply) }, 'failed to store reply');
        return 'stopped';
      })
      .then((outcome) => {
        telemetry.replyLeft(outcome, timers.steadyMs() - beganMs, reply.organizationId);
        this.#running.delete(reply);
        leave();
      });
    this.#running.set(reply, { attempt, done });
  }

  /** Renews late leases after a pause: otherwise the next sweep would expire those of a living worker. */
  async renewIfLate(): Promise<void> {
    if (this.#needs.timers.steadyMs() - this.#renewedMs > this.#settings.leaseMs / 2) await this.#renew();
  }

  async #renew(): Promise<void> {
    const { store, timers, log } = this.#needs;
    const beganMs = timers.steadyMs();
    const claims = [...this.#running.keys()];
    try {
      for (let from = 0; from < claims.length; from += renewedAtOnce) {
        const some = claims.slice(from, from + renewedAtOnce);
        const ended = await store.renewReplies(some, this.#settings.leaseMs);
        for (const claim of ended) this.#running.get(claim)?.attempt.abort('lost');
      }
      this.#renewedMs = beganMs;
      this.#isRenewalFailing = false;
    } catch (error) {
      // Retried with the next heartbeat or before the next sweep, up to five times a second. If all fail, the leases expire.
      if (!this.#isRenewalFailing) log.error({ err: error }, 'failed to renew leases, retrying');
      this.#isRenewalFailing = true;
    }
  }
}
