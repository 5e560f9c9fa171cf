import { Type } from 'typebox';
import { getThread } from '../../usecases/get-thread.ts';
import { defineRoute } from '../route.ts';
import { presentMessage, presentThread } from './presentation.ts';
import { conditionalHeaders, messageSchema, statusSchema, threadPath, threadSchema } from './schemas.ts';

export const getThreadRoute = (threadUrl: (id: string) => string) =>
  defineRoute({
    method: 'GET',
    url: '/threads/:id',
    operationId: 'getThread',
    summary: 'Get a thread',
    description:
      'The thread with every message and its status. Poll it until `status.state` is `idle` or `error`.',
    caller: 'anyone',
    path: threadPath,
    headers: conditionalHeaders,
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
    async handle({ context, principal, path }) {
      const { thread, messages, status } = await getThread(context, principal, path.id);
      return {
        body: {
          thread: presentThread(thread, threadUrl(thread.id)),
          messages: messages.map(presentMessage),
          status,
        },
      };
    },
  });
