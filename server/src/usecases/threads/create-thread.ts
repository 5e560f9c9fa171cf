import type { PersonAuthority } from '../../domain/authority.ts';
import { invalid } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { type Thread, titleFromPrompt } from '../../domain/thread.ts';
import { dayMs } from '../../domain/time.ts';
import type { NewThread } from '../../storage/port/store.ts';
import { authorize } from '../authorize.ts';
import type { Context, PersonCall } from '../context.ts';

interface CreateThreadInput {
  readonly prompt: string;
  readonly title?: string | undefined;
  readonly accountId?: string | undefined;
  readonly secondaryId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The request's trace ID: it leads from a failed reply back to the log. */
  readonly traceId: string;
}

const idempotencyKeptMs = dayMs;

/** Resolves when the thread and its pending reply are stored. A repeated idempotency key creates no second thread. */
export async function createThread(call: PersonCall, input: CreateThreadInput) {
  const { context } = call;
  const { ids } = context;
  const { organizationId, userId, authority } = call.principal;
  const { prompt, title, accountId = null, secondaryId = null, traceId, idempotencyKey: key } = input;
  const fields = { title: title ?? titleFromPrompt(prompt), accountId, secondaryId };
  const bodyHash = () => context.sha256(JSON.stringify([prompt, title, accountId, secondaryId]));
  const newIds = { id: ids.thread(), messageId: ids.message(), replyId: ids.message() };
  const created = createWithReply(context, organizationId, authority, {
    ...fields,
    ...newIds,
    prompt,
    replyDeadlineMs: context.limits.replyDeadlineMs,
    traceId,
    ...(key !== undefined && { idempotency: { key, bodyHash: bodyHash(), keepMs: idempotencyKeptMs } }),
  });
  const result = await authorize(context, authority, created);
  if (result.outcome === 'key-reused') {
    throw invalid('`Idempotency-Key` was already used with a different request body.');
  }
  // A repeated create gets the first response again: except for ids and time, it is derived from the body, which is the same.
  const { id, messageId, replyId } =
    result.outcome === 'repeated' ? { ...result, id: result.threadId } : newIds;
  const thread: Thread = {
    ...fields,
    organizationId,
    id,
    userId,
    createdAt: result.createdAt,
    updatedAt: null,
    published: false,
    deletedAt: null,
  };
  return { thread, messageId, replyId };
}

/** If the worker of this process has a free slot, the reply is claimed for it in the same commit. */
async function createWithReply(
  { store, replySignals }: Context,
  organizationId: OrganizationId,
  authority: PersonAuthority,
  thread: NewThread,
): ReturnType<Context['store']['createThread']> {
  const claimed = replySignals.worker?.createThread(organizationId, thread, authority);
  if (claimed !== undefined) return claimed;
  const result = await store.createThread(organizationId, thread, authority);
  if (result !== 'unauthorized' && result.outcome === 'created') replySignals.replyWaiting();
  return result;
}
