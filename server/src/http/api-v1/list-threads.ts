import type { Limits } from '../../domain/limits.ts';
import { listThreads } from '../../usecases/threads/list-threads.ts';
import { defineRoute } from '../route.ts';
import { Type, text } from '../schema.ts';
import { pageRenderer } from './presentation.ts';
import { conditionalHeaders, threadPageSchema } from './schemas.ts';

const limitDefault = 25;

export const listThreadsRoute = (
  { linkLengthMax, pageSizeMax }: Limits,
  threadUrl: (id: string) => string,
) => {
  const render = pageRenderer(threadUrl);
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
    success: {
      status: 200,
      conditional: true,
      schema: threadPageSchema,
    },
    errors: {
      INVALID_PARAMS: 'A query parameter fails validation, or the cursor is not one of this listing.',
    },
    async handle({ context, principal, query }) {
      const listed = await listThreads(context, principal, {
        ...query,
        limit: query.limit ?? limitDefault,
      });
      const { body, etag } = render(listed);
      return { body, etag };
    },
  });
};
