import { ServiceError } from '../../domain/errors.ts';
import { limits as fixed } from '../../domain/limits.ts';
import { addPrompt, retryReply } from '../../usecases/replies/add-prompt.ts';
import { cancelReply } from '../../usecases/replies/cancel-reply.ts';
import { limitPrompts } from '../../usecases/replies/limit-prompts.ts';
import {
  deleteThread,
  publishOwnThread,
  renameThread,
  restoreThread,
  undoMs,
} from '../../usecases/threads/change-thread.ts';
import { createThread } from '../../usecases/threads/create-thread.ts';
import { getThreadView } from '../../usecases/threads/get-thread.ts';
import type { ConsoleOptions } from './options.ts';
import { type ConsoleCall, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { presentThread, presentView } from './thread-presentation.ts';
import {
  changedThreadSchema,
  deletedSchema,
  followUpBody,
  newThreadBody,
  publishedBody,
  renameBody,
  threadPath,
  threadViewSchema,
} from './thread-schemas.ts';

const idempotencyKeyLengthMax = fixed.idempotencyKeyLengthMax.default;

type AnyCall = ConsoleCall<'member', unknown, unknown, unknown>;

/** All but the first are only for the thread's creator, which the use cases check. */
export function threadChangeRoutes({ limits }: ConsoleOptions): readonly ConsoleRoute[] {
  const create = defineConsoleRoute({
    method: 'POST',
    url: '/threads',
    caller: 'member',
    body: newThreadBody(limits),
    status: 201,
    response: threadViewSchema,
    async handle(call) {
      const { context, principal, body, traceId } = call;
      const idempotencyKey = idempotencyKeyOf(call);
      await limitPrompts(context, principal);
      const { thread } = await createThread(context, principal, {
        ...body,
        traceId,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      });
      return viewFor(call, thread.id);
    },
  });

  const rename = defineConsoleRoute({
    method: 'PATCH',
    url: '/threads/:id',
    caller: 'member',
    path: threadPath,
    body: renameBody(limits),
    response: changedThreadSchema,
    async handle({ context, principal, path, body }) {
      const thread = await renameThread(context, principal, path.id, body.title);
      return { thread: presentThread(thread, true) };
    },
  });

  const ask = defineConsoleRoute({
    method: 'POST',
    url: '/threads/:id/messages',
    caller: 'member',
    path: threadPath,
    body: followUpBody(limits),
    status: 201,
    response: threadViewSchema,
    async handle(call) {
      const { context, principal, path, body, traceId } = call;
      await limitPrompts(context, principal);
      await addPrompt(context, principal, path.id, { prompt: body.prompt, traceId });
      return viewFor(call, path.id);
    },
  });

  return [create, rename, ask, publish, remove, restore, retry, stop];
}

const publish = defineConsoleRoute({
  method: 'PUT',
  url: '/threads/:id/published',
  caller: 'member',
  path: threadPath,
  body: publishedBody,
  response: changedThreadSchema,
  async handle({ context, principal, initiator, path, body }) {
    const thread = await publishOwnThread(context, principal, initiator, path.id, body.published);
    return { thread: presentThread(thread, true) };
  },
});

const remove = defineConsoleRoute({
  method: 'DELETE',
  url: '/threads/:id',
  caller: 'member',
  path: threadPath,
  response: deletedSchema,
  async handle({ context, principal, initiator, path }) {
    await deleteThread(context, principal, initiator, path.id);
    return { undoSeconds: undoMs / 1000 };
  },
});

const restore = defineConsoleRoute({
  method: 'POST',
  url: '/threads/:id/restore',
  caller: 'member',
  path: threadPath,
  response: changedThreadSchema,
  async handle({ context, principal, initiator, path }) {
    const thread = await restoreThread(context, principal, initiator, path.id);
    return { thread: presentThread(thread, true) };
  },
});

const retry = defineConsoleRoute({
  method: 'POST',
  url: '/threads/:id/retry',
  caller: 'member',
  path: threadPath,
  response: threadViewSchema,
  async handle(call) {
    const { context, principal, path, traceId } = call;
    await limitPrompts(context, principal);
    await retryReply(context, principal, path.id, traceId);
    return viewFor(call, path.id);
  },
});

const stop = defineConsoleRoute({
  method: 'POST',
  url: '/threads/:id/stop',
  caller: 'member',
  path: threadPath,
  response: threadViewSchema,
  async handle(call) {
    await cancelReply(call.context, call.principal, call.path.id);
    return viewFor(call, call.path.id);
  },
});

async function viewFor({ context, principal }: Pick<AnyCall, 'context' | 'principal'>, threadId: string) {
  return presentView(await getThreadView(context, principal, threadId));
}

/** As in the public API: repeating a create with the same key makes no second thread. */
function idempotencyKeyOf({ reply }: Pick<AnyCall, 'reply'>): string | undefined {
  const key = reply.request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length >= 1 && key.length <= idempotencyKeyLengthMax) return key;
  const fault = `Idempotency-Key: must have 1 to ${idempotencyKeyLengthMax} characters.`;
  throw new ServiceError('INVALID_PARAMS', fault);
}
