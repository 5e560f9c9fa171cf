import { failedReplyContent } from '../../domain/reply.ts';
import type { FailedReply, FailureTexts, ReplyName } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { replyFailedNote } from './reply-failed-note.ts';

/** Above this many, each round asks after a quarter of the watched replies. */
const askedAtOnceMax = 1000;
const parts = 4;

export const failureTexts: FailureTexts = {
  content: failedReplyContent,
  overdue: 'The reply did not end by its deadline.',
  abandoned: 'The process that wrote the reply died, or lost touch with the store, in every attempt.',
};

/**
 * Sees to what no signal of this process tells: deadlines, leases of dead workers, and what other processes did. It is
 * called a few times a second, with the number of the round. `leases` says whether leases that ran out are ended
 * (`LeaseWatch`). Returns the replies that it failed.
 */
export async function tendReplies(context: Context, round: number, leases = true): Promise<FailedReply[]> {
  const { store, replySignals, limits } = context;
  const failed = await store.sweepReplies(failureTexts, { attemptsMax: limits.replyAttempts, leases });
  await tellFailed(context, failed);
  const asked = partOf(replySignals.watched(), round);
  const ended = asked.length === 0 ? [] : await store.endedReplies(asked);
  replySignals.hear({ waiting: true, ended });
  return failed;
}

/** To be called by a worker before its first claim. Returns the replies that it failed. */
export async function releaseOrphanedReplies(context: Context): Promise<FailedReply[]> {
  const { store, limits } = context;
  const failed = await store.releaseOrphanedReplies(failureTexts, limits.replyAttempts);
  await tellFailed(context, failed);
  return failed;
}

/** Notes are written one by one: there are rarely many. If a note cannot be kept, the caller's log still has its line. */
async function tellFailed(context: Context, failed: readonly FailedReply[]): Promise<void> {
  const { store, replySignals, telemetry } = context;
  for (const reply of failed) replySignals.replyEnded(reply);
  telemetry.repliesEnded('failed', failed.length);
  for (const reply of failed) {
    const note = replyFailedNote(context, reply, reply.failure);
    await store.writeAudit(reply.organizationId, note).catch(() => {});
  }
}

/** A round that comes later than this after the last one may have missed an outage. */
const gapMsMin = 2_000;

/**
 * Decides when a lease that ran out is that of a dead worker. While the store is away no worker can renew, and that must
 * not cost replies an attempt. So leases are ended only after the store has answered this process without a break for as
 * long as a lease: by then every living worker has renewed.
 */
export class LeaseWatch {
  readonly #leaseMs: number;
  readonly #steady: () => number;
  #answersSince = 0;
  #lastAnswer: number | undefined;

  constructor(leaseMs: number, steady: () => number = () => performance.now()) {
    this.#leaseMs = leaseMs;
    this.#steady = steady;
  }

  /** To be asked right before a sweep. */
  mayEndLeases(): boolean {
    return this.#breakIfLate() - this.#answersSince >= this.#leaseMs;
  }

  /** A round has succeeded, or has not. */
  roundEnded(succeeded: boolean): void {
    const now = this.#breakIfLate();
    this.#lastAnswer = succeeded ? now : undefined;
  }

  #breakIfLate(): number {
    const now = this.#steady();
    const gapMs = Math.max(gapMsMin, this.#leaseMs / 2);
    if (this.#lastAnswer === undefined || now - this.#lastAnswer > gapMs) this.#answersSince = now;
    return now;
  }
}

function partOf(watched: readonly ReplyName[], round: number): readonly ReplyName[] {
  if (watched.length <= askedAtOnceMax) return watched;
  return watched.filter(
    ({ messageId }) => (messageId.codePointAt(messageId.length - 1) ?? 0) % parts === round % parts,
  );
}
