import { ServiceError } from '../../domain/errors.ts';
import type { MessageId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { type Thread, titleFromPrompt } from '../../domain/thread.ts';
import type { Context } from '../context.ts';
import { refuseWrite } from '../credentials/authenticate.ts';

export interface CreateThreadInput {
  readonly prompt: string;
  readonly title?: string | undefined;
  readonly accountId?: string | undefined;
  readonly secondaryId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The request's trace id: it leads from a failed reply back to the log. */
  readonly traceId: string;
}

export interface CreatedThread {
  readonly thread: Thread;
  readonly messageId: MessageId;
  readonly replyId: MessageId;
}

const idempotencyKeptMs = 86_400_000;

/** The thread exists, with its reply on the way, once this resolves. A repeated idempotency key makes no second one. */
export async function createThread(
  context: Context,
  principal: UserPrincipal,
  input: CreateThreadInput,
): Promise<CreatedThread> {
  const { store, ids } = context;
  const { organizationId, userId, keyHash } = principal;
  const described = {
    title: input.title ?? titleFromPrompt(input.prompt),
    accountId: input.accountId ?? null,
    secondaryId: input.secondaryId ?? null,
  };
  const made = { threadId: ids.thread(), messageId: ids.message(), replyId: ids.message() };
  const result = await store.createThread(organizationId, {
    ...described,
    id: made.threadId,
    userId,
    keyHash,
    prompt: input.prompt,
    messageId: made.messageId,
    replyId: made.replyId,
    replyDeadlineMs: context.limits.replyDeadlineMs,
    traceId: input.traceId,
    ...(input.idempotencyKey !== undefined && {
      idempotency: { key: input.idempotencyKey, bodyHash: hashOf(context, input), keepMs: idempotencyKeptMs },
    }),
  });
  if (result.outcome === 'revoked') return refuseWrite(context, principal);
  if (result.outcome === 'key-reused') {
    throw new ServiceError('INVALID_PARAMS', 'Idempotency-Key: was used before with another body.');
  }
  if (result.outcome === 'created') context.replySignals.replyWaiting();
  // A repetition answers as the first time did: everything but ids and time follows from the body, which is the same.
  const { threadId, messageId, replyId } = result.outcome === 'repeated' ? result : made;
  const thread: Thread = {
    ...described,
    organizationId,
    id: threadId,
    userId,
    createdAt: result.createdAt,
    updatedAt: null,
    published: false,
    deletedAt: null,
  };
  return { thread, messageId, replyId };
}

function hashOf({ sha256 }: Context, { prompt, title, accountId, secondaryId }: CreateThreadInput): string {
  return sha256(JSON.stringify([prompt, title ?? null, accountId ?? null, secondaryId ?? null]));
}
