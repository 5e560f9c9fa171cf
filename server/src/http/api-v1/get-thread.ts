import { Type } from 'typebox';
import type { Principal } from '../../domain/principal.ts';
import { getThread, type ThreadWithMessages } from '../../usecases/get-thread.ts';
import { waitForReply } from '../../usecases/wait-for-reply.ts';
import { preferredWaitSeconds } from '../prefer.ts';
import { type Call, defineRoute } from '../route.ts';
import { presentMessage, presentThread } from './presentation.ts';
import { conditionalHeaders, messageSchema, statusSchema, threadPath, threadSchema } from './schemas.ts';

export const getThreadRoute = (threadUrl: (id: string) => string) =>
  defineRoute({
    method: 'GET',
    url: '/threads/:id',
    operationId: 'getThread',
    summary: 'Get a thread',
    description:
      'The thread with every message and its status. Poll it until `status.state` is `idle` or `error`, or let the ' +
      'service wait for you with `Prefer: wait`.',
    caller: 'anyone',
    path: threadPath,
    headers: getThreadHeaders,
    success: {
      status: 200,
      conditional: true,
      schema: Type.Object({
        thread: threadSchema,
        messages: Type.Array(messageSchema),
        status: statusSchema,
      }),
    },
    errors: {},
    async handle(call) {
      const waitSeconds = preferredWaitSeconds(call.headers.prefer);
      const { thread, messages, status } = await readThread(call, waitSeconds ?? 0);
      return {
        ...(waitSeconds !== undefined && { headers: { 'preference-applied': `wait=${waitSeconds}` } }),
        body: {
          thread: presentThread(thread, threadUrl(thread.id)),
          messages: messages.map(presentMessage),
          status,
        },
      };
    },
  });

const getThreadHeaders = Type.Object({
  ...conditionalHeaders.properties,
  prefer: Type.Optional(
    Type.String({
      description:
        '`wait=N`: hold the answer until the reply has ended, for at most N seconds, and at most 25 (RFC 7240).',
      examples: ['wait=20'],
    }),
  ),
});

async function readThread(
  {
    context,
    principal,
    path,
    hold,
  }: Pick<
    Call<Principal, { id: string }, unknown, unknown, unknown>,
    'context' | 'principal' | 'path' | 'hold'
  >,
  waitSeconds: number,
): Promise<ThreadWithMessages> {
  const first = await getThread(context, principal, path.id);
  if (waitSeconds === 0 || first.status.activeMessageId === null) return first;
  const stillAllowed = await hold(waitSeconds * 1000, (until) => waitForReply(context, first, until));
  return getThread(context, stillAllowed, path.id);
}
