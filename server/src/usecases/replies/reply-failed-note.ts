import type { AuditNote, FailedReply } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';

/** A reason is a sentence; this bounds what a provider may make of it. */
const reasonLengthMax = 500;

/** By the trace id of the request that asked for the reply: it is what the person who asked can quote. */
export function replyFailedNote(
  context: Pick<Context, 'ids'>,
  { threadId, messageId, traceId }: Pick<FailedReply, 'threadId' | 'messageId' | 'traceId'>,
  failure: string,
): AuditNote {
  const reason = failure.slice(0, reasonLengthMax).toWellFormed();
  const initiator = { actor: { kind: 'skein' }, traceId } as const;
  return auditNote(context, initiator, 'reply.failed', threadId, { reason, message: messageId });
}
