import type { OwnAuthority } from '../domain/authority.ts';
import type { IdGenerator } from '../domain/id.ts';
import type { Log, Telemetry } from '../domain/telemetry.ts';
import type { AuditNote, FailedReply, ReplyName } from '../storage/port/store.ts';
import type { ReplySignals } from './reply-signals.ts';

/** A reason is one sentence; this bounds what a provider may send. */
const reasonLengthMax = 500;

/** Notifies those who wait for replies that no worker of this process has ended, and counts the replies. */
export function reportEnded(
  {
    replySignals,
    telemetry,
  }: { readonly replySignals: ReplySignals; readonly telemetry: Pick<Telemetry, 'replyEnded'> },
  outcome: 'cancelled' | 'failed',
  replies: readonly ReplyName[],
): void {
  for (const reply of replies) {
    replySignals.replyEnded(reply);
    telemetry.replyEnded(outcome, reply.organizationId);
  }
}

/** In one line: a process may write hundreds of replies. */
export function reportCrashed(
  { telemetry, log }: { readonly telemetry: Pick<Telemetry, 'repliesCrashed'>; readonly log: Log },
  crashed: readonly ReplyName[],
): void {
  if (crashed.length === 0) return;
  telemetry.repliesCrashed(crashed.length);
  log.warn({ replies: crashed.length }, 'worker process ended or stalled, restarting its replies');
}

/** Has the trace ID of the request that created the reply: the person who sent it can quote that id. */
export function replyFailedNote(
  ids: Pick<IdGenerator, 'event'>,
  { threadId, messageId, traceId }: Pick<FailedReply, 'threadId' | 'messageId' | 'traceId'>,
  failure: string,
): AuditNote<OwnAuthority> {
  const reason = failure.slice(0, reasonLengthMax).toWellFormed();
  return {
    id: ids.event(),
    authority: { kind: 'skein' },
    traceId,
    action: 'reply.failed',
    subject: threadId,
    detail: { reason, message: messageId },
  };
}

export function replyForLog({ traceId, threadId, messageId, organizationId }: Omit<FailedReply, 'failure'>) {
  return { trace_id: traceId, thread: threadId, message: messageId, organization: organizationId };
}
