import type { FastifyInstance } from 'fastify';
import type { Limits } from '../../domain/limits.ts';
import type { Admission } from '../../usecases/credentials/authenticate.ts';
import type { Replies, Threads } from '../../usecases/threads/threads.ts';
import { admitCaller } from '../authenticate.ts';
import { defineRoute, mountRoute, rendered } from '../route.ts';
import { Type, text } from '../schema.ts';
import type { HeldRequests } from '../wire/index.ts';
import { getThreadRoute } from './get-thread.ts';
import { describeRoute } from './openapi.ts';
import {
  conditionalHeaders,
  definitions,
  pageRenderer,
  presentThread,
  threadPageSchema,
  threadPath,
  threadSchema,
} from './presentation.ts';

export interface ApiNeeds {
  readonly threads: Pick<Threads, 'create' | 'list' | 'get' | 'getVersion' | 'rename' | 'remove'>;
  readonly replies: Pick<Replies, 'findRunning' | 'waitUntilEnded'>;
  readonly admission: Pick<Admission, 'readCredential' | 'admit' | 'authenticate'>;
  readonly limits: Limits;
  readonly baseUrl: () => string;
  readonly now: () => number;
}

/** The public API, under `/api/v1`. Unknown routes check the credential, too: 401 comes before 404. */
export function apiV1(needs: ApiNeeds, heldRequests: HeldRequests) {
  const { threads, replies, admission, limits, baseUrl, now } = needs;
  return async (app: FastifyInstance): Promise<void> => {
    app.addHook('onRequest', admitCaller(admission));
    // Makes the hook apply to unknown routes. The handler is never called: app.ts answers them before reading a body.
    app.setNotFoundHandler(() => {});
    for (const definition of definitions) app.addSchema(definition);
    const threadUrl = (id: string) => `${baseUrl()}/threads/${id}`;
    const routes = [
      createThreadRoute(threads, limits),
      listThreadsRoute(threads, limits, threadUrl, now),
      getThreadRoute(threads, replies, threadUrl),
      renameThreadRoute(threads, limits, threadUrl),
      deleteThreadRoute(threads),
    ];
    for (const route of routes)
      mountRoute(app, admission.authenticate, heldRequests, route, describeRoute(route));
  };
}

const createThreadRoute = (threads: Pick<Threads, 'create'>, limits: Limits) =>
  defineRoute({
    method: 'POST',
    url: '/threads',
    operationId: 'createThread',
    summary: 'Create a thread',
    description:
      'Stores the prompt as the first user message and starts generating the reply. Read the thread until its status is `idle` or `error`.',
    caller: 'user',
    headers: Type.Object({
      'idempotency-key': Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: limits.idempotencyKeyLengthMax,
          description:
            'Makes a create safe to repeat for 24 hours: the same key and body return the same ids.',
        }),
      ),
    }),
    body: Type.Object(
      {
        prompt: text(1, limits.promptLengthMax, 'Stored as the first user message.'),
        title: Type.Optional(text(1, limits.titleLengthMax, 'Generated from the prompt if omitted.')),
        accountId: Type.Optional(text(0, limits.linkLengthMax, 'Associates the thread with an account.')),
        secondaryId: Type.Optional(text(0, limits.linkLengthMax, 'Secondary linkage; can be set here only.')),
      },
      { examples: [{ prompt: 'How long do I have to return yarn?', accountId: 'acct_42' }] },
    ),
    success: {
      status: 201,
      schema: Type.Object({
        thread: threadSchema,
        messageId: Type.String({ description: 'The user message.' }),
        responseMessageId: Type.String({ description: 'The assistant message that is being generated.' }),
      }),
    },
    errors: {
      INVALID_PARAMS:
        'The body fails validation or is not JSON, or the Idempotency-Key was used with another body.',
      FORBIDDEN: 'The credential is org-wide.',
    },
    async handle(call) {
      const idempotencyKey = call.headers['idempotency-key'];
      const input = { ...call.body, traceId: call.traceId, idempotencyKey };
      const { thread, messageId, replyId } = await threads.create(call.principal, input);
      return {
        body: rendered({ thread: presentThread(thread, null), messageId, responseMessageId: replyId }),
        headers: { location: `/api/v1/threads/${thread.id}` },
      };
    },
  });

const limitDefault = 25;

const listThreadsRoute = (
  threads: Pick<Threads, 'list'>,
  { linkLengthMax, pageSizeMax }: Limits,
  threadUrl: (id: string) => string,
  now: () => number,
) => {
  const render = pageRenderer(threadUrl, now);
  return defineRoute({
    method: 'GET',
    url: '/threads',
    operationId: 'listThreads',
    summary: 'List threads',
    description:
      'Visible threads, most recent activity first. Pages are stable: a walk shows the threads that existed when it started, each once.',
    caller: 'anyone',
    query: Type.Object({
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: pageSizeMax,
          default: limitDefault,
          description: 'Threads per page.',
        }),
      ),
      cursor: Type.Optional(
        Type.String({ description: "Opaque value of the previous page's `nextCursor`." }),
      ),
      accountId: Type.Optional(text(0, linkLengthMax, 'Only threads associated with this account.')),
    }),
    headers: conditionalHeaders,
    success: { status: 200, conditional: true, schema: threadPageSchema },
    errors: {
      INVALID_PARAMS: 'A query parameter fails validation, or the cursor is not from this listing.',
    },
    async handle(call) {
      const { limit = limitDefault, ...query } = call.query;
      return render(await threads.list(call.principal, { ...query, limit }));
    },
  });
};

const renameThreadRoute = (
  threads: Pick<Threads, 'rename'>,
  { titleLengthMax }: Limits,
  threadUrl: (id: string) => string,
) =>
  defineRoute({
    method: 'PATCH',
    url: '/threads/:id',
    operationId: 'renameThread',
    summary: 'Rename a thread',
    description: 'Sets the title, the only writable field. The thread moves to the top of the list.',
    caller: 'user',
    path: threadPath,
    body: Type.Object(
      { title: text(1, titleLengthMax, 'The new title.') },
      { additionalProperties: false, examples: [{ title: 'Returns' }] },
    ),
    success: { status: 200, schema: Type.Object({ thread: threadSchema }) },
    errors: {
      INVALID_PARAMS: 'The body fails validation, is not JSON, or has a field other than `title`.',
      FORBIDDEN: 'The credential is org-wide, or the thread is published by another user.',
    },
    async handle(call) {
      const thread = await threads.rename(call.principal, call.path.id, call.body.title);
      return { body: rendered({ thread: presentThread(thread, threadUrl(thread.id)) }) };
    },
  });

const deleteThreadRoute = (threads: Pick<Threads, 'remove'>) =>
  defineRoute({
    method: 'DELETE',
    url: '/threads/:id',
    operationId: 'deleteThread',
    summary: 'Delete a thread',
    description:
      'Soft delete: the record is kept, but get and list no longer return it. A running reply is cancelled.',
    caller: 'user',
    path: threadPath,
    success: { status: 200, schema: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }) },
    errors: { FORBIDDEN: 'The credential is org-wide, or the thread is published by another user.' },
    async handle({ principal, path, traceId }) {
      const initiator = { authority: principal.authority, traceId };
      const id = await threads.remove({ principal, initiator }, path.id);
      return { body: rendered({ id, deleted: true as const }) };
    },
  });
