import type { Signals } from '../../../runtime/src/pure/signals.ts';
import { retryUntilAborted } from '../../../runtime/src/retry.ts';
import type { Timers } from '../../../runtime/src/timers.ts';
import { nextTurn } from '../../../runtime/src/turns.ts';
import { untilAborted } from '../../../runtime/src/until-aborted.ts';
import { type ConversationTurn, conversationBefore } from '../domain/conversation.ts';
import type { IdGenerator, ThreadId } from '../domain/id.ts';
import { timerMsMax } from '../domain/limits.ts';
import type { Message } from '../domain/message.ts';
import { retryDelayMs } from '../domain/reply.ts';
import type { AttemptOutcome, Log, Tracing } from '../domain/telemetry.ts';
import type { ClaimedReply, Replies, ReplyClaim, Threads } from '../storage/port/store.ts';
import { isModelFailure, type Model } from './model.ts';
import type { ReplySignals } from './reply-signals.ts';
import { type ReplyWriter, replyWriter } from './reply-writer.ts';
import { replyFailedNote, replyForLog } from './report-replies.ts';

export interface AttemptNeeds {
  readonly store: Pick<Replies, 'recordReplyProgress' | 'settleReply' | 'releaseReply'> &
    Pick<Threads, 'listMessages'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly now: () => number;
  readonly timers: Timers;
  readonly replySignals: Pick<ReplySignals, 'watch' | 'replyEnded'>;
  readonly threadSignals: Pick<Signals<ThreadId>, 'changed'>;
  readonly tracing: Pick<Tracing, 'span'>;
  readonly log: Log;
}

interface AttemptTask {
  readonly reply: ClaimedReply;
  readonly model: Model;
  /** The only message so far. Undefined if the conversation has to be read. */
  readonly prompt: string | undefined;
  /** A reply that has failed this often is not retried. */
  readonly attemptsMax: number;
  readonly writeEveryMs: number;
}

/** Why an attempt was aborted. Only the first reason counts: a cancelled reply is not released. */
const abortReasons = {
  lost: new Error('The reply was cancelled or taken over.'),
  stopping: new Error('The worker is stopping.'),
  crashing: new Error('The process is in an unknown state and ends.'),
};

/** Shown for unexpected errors. Their own messages may contain anything, so they only go to the log. */
const unexpectedFailure =
  'Something went wrong inside the service. The operator can find the cause in its log by the trace ID.';

/** How long a stopping process tries to release a reply while the store is unavailable. */
const releaseWithinMs = 5_000;

/** Loaded at once for the conversation of a reply. */
const partOfThread = { limit: 64, bytesMax: 131_072 };

/** One try to write a claimed reply: asks the model, stores its progress and settles the reply. */
export class Attempt {
  readonly #needs: AttemptNeeds;
  readonly #task: AttemptTask;
  readonly #abort = new AbortController();
  readonly #beganMs: number;

  constructor(needs: AttemptNeeds, task: AttemptTask) {
    this.#needs = needs;
    this.#task = task;
    this.#beganMs = needs.timers.steadyMs();
  }

  abort(why: keyof typeof abortReasons): void {
    this.#abort.abort(abortReasons[why]);
  }

  async run(): Promise<AttemptOutcome> {
    const { reply, model, writeEveryMs } = this.#task;
    const { replySignals, timers } = this.#needs;
    const lose = () => this.abort('lost');
    const unwatch = replySignals.watch(reply, lose);
    // Measured from the claim with a monotonic clock. The sweep marks the reply as failed.
    const cancelDeadline = timers.after(Math.min(reply.remainingMs, timerMsMax), lose);
    const writer = replyWriter(this.#needs, reply, model.name, writeEveryMs, lose);
    const written = this.#generate(writer).finally(() => {
      unwatch();
      writer.close();
    });
    try {
      return await written.then(
        () => this.#settle('completed', writer.complete),
        (error) => this.#giveUp(writer, error),
      );
    } catch (error) {
      const { aborted, reason } = this.#abort.signal;
      if (!aborted) throw error;
      if (reason === abortReasons.stopping) await releaseReply(this.#needs, reply);
      if (reason === abortReasons.crashing) await releaseReply(this.#needs, reply, 'crash');
      return 'stopped';
    } finally {
      cancelDeadline();
    }
  }

  async #generate(writer: ReplyWriter): Promise<void> {
    const { reply, model } = this.#task;
    const { organizationId, accountId, attempts } = reply;
    const { signal } = this.#abort;
    const conversation = await this.#persist(() => this.#readConversation());
    const request = { organizationId, accountId, conversation, attempt: attempts + 1, signal };
    await this.#needs.tracing.span('model', {}, async () => {
      for await (const event of untilAborted(model.reply(request), signal)) writer.take(event);
    });
  }

  async #readConversation(): Promise<readonly ConversationTurn[]> {
    const { store, timers } = this.#needs;
    const { reply, prompt } = this.#task;
    const { organizationId, threadId, messageId } = reply;
    if (prompt !== undefined) {
      // The create is answered first: a model can block the process, or end it.
      await new Promise<void>((resolve) => timers.after(0, resolve));
      return [{ role: 'user', content: prompt }];
    }
    const messages: Message[] = [];
    for (;;) {
      // In a turn of its own: loading blocks the event loop on SQLite.
      await nextTurn(organizationId);
      const part = { ...partOfThread, skip: messages.length };
      const loaded = await store.listMessages(organizationId, threadId, part);
      messages.push(...loaded);
      const isComplete = loaded.length === 0 || loaded.some(({ id }) => id === messageId);
      if (isComplete) return conversationBefore(messages, messageId);
    }
  }

  async #settle(outcome: AttemptOutcome, settle: () => Promise<boolean>): Promise<AttemptOutcome> {
    const { replySignals, threadSignals } = this.#needs;
    const { reply } = this.#task;
    // The claim's token prevents overwriting a successor's reply.
    if (!(await this.#persist(settle))) return 'stopped';
    if (outcome === 'retried') threadSignals.changed(reply.threadId);
    else replySignals.replyEnded(reply);
    return outcome;
  }

  async #giveUp(writer: ReplyWriter, error: unknown): Promise<AttemptOutcome> {
    this.#abort.signal.throwIfAborted();
    const { ids, store, log } = this.#needs;
    const { reply } = this.#task;
    const failure = isModelFailure(error) ? error.message : unexpectedFailure;
    const delayMs = this.#retryDelayMs(error);
    if (delayMs !== undefined) {
      log.info({ failure, delay_ms: delayMs, ...replyForLog(reply) }, 'retrying reply');
      return this.#settle('retried', () => store.releaseReply(reply, { delayMs, failure }));
    }
    // A failure of the model explains itself. Any other error is a bug, so its stack is logged.
    if (isModelFailure(error)) log.warn({ failure, ...replyForLog(reply) }, 'reply failed');
    else log.error({ err: error, ...replyForLog(reply) }, 'reply failed');
    const note = replyFailedNote(ids, reply, failure);
    return this.#settle('failed', () => writer.fail(failure, note));
  }

  #retryDelayMs(error: unknown): number | undefined {
    if (!isModelFailure(error) || !error.transient) return undefined;
    const { timers } = this.#needs;
    const { reply, attemptsMax } = this.#task;
    const remainingMs = reply.remainingMs - (timers.steadyMs() - this.#beganMs);
    const failed = { attempts: reply.attempts + 1, retryAfterMs: error.retryAfterMs, remainingMs };
    return retryDelayMs(failed, attemptsMax, timers.random());
  }

  /** Retries until the attempt is aborted: at the deadline, when the reply is lost or when the worker stops. */
  #persist<T>(call: () => Promise<T>): Promise<T> {
    const { timers, log } = this.#needs;
    const text = 'failed to store reply, retrying';
    const onFailure = (error: unknown) => log.warn({ err: error, ...replyForLog(this.#task.reply) }, text);
    return retryUntilAborted(call, this.#abort.signal, onFailure, timers);
  }
}

/** Tries until the store answers, for `withinMs` at most. */
export async function releaseReply(
  { store, timers }: { readonly store: Pick<Replies, 'releaseReply'>; readonly timers: Timers },
  claim: ReplyClaim,
  why?: 'crash',
  withinMs = releaseWithinMs,
): Promise<void> {
  const tooLate = new AbortController();
  const cancelTimer = timers.after(withinMs, () => tooLate.abort());
  const release = () => store.releaseReply(claim, why);
  await retryUntilAborted(release, tooLate.signal, undefined, timers).finally(cancelTimer);
}
