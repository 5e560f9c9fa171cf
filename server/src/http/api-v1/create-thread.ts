import type { Limits } from '../../domain/limits.ts';
import { createThread } from '../../usecases/threads/create-thread.ts';
import { defineRoute } from '../route.ts';
import { Type, text } from '../schema.ts';
import { presentThread } from './presentation.ts';
import { threadSchema } from './schemas.ts';

export const createThreadRoute = ({
  promptLengthMax,
  titleLengthMax,
  linkLengthMax,
  idempotencyKeyLengthMax,
}: Limits) =>
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
          maxLength: idempotencyKeyLengthMax,
          description:
            'Makes a create safe to repeat for 24 hours: the same key and body return the same ids.',
        }),
      ),
    }),
    body: Type.Object(
      {
        prompt: text(1, promptLengthMax, 'Stored as the first user message.'),
        title: Type.Optional(text(1, titleLengthMax, 'Generated from the prompt if omitted.')),
        accountId: Type.Optional(text(0, linkLengthMax, 'Associates the thread with an account.')),
        secondaryId: Type.Optional(text(0, linkLengthMax, 'Secondary linkage; can be set here only.')),
      },
      { examples: [{ prompt: 'How long do customers have to return an order?', accountId: 'acct_42' }] },
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
    async handle({ context, principal, headers, body, traceId }) {
      const { prompt, title, accountId, secondaryId } = body;
      const input = { prompt, title, accountId, secondaryId, traceId };
      const idempotencyKey = headers['idempotency-key'];
      const created = await createThread(context, principal, { ...input, idempotencyKey });
      const { thread, messageId, replyId } = created;
      return {
        body: { thread: presentThread(thread, null), messageId, responseMessageId: replyId },
        headers: { location: `/api/v1/threads/${thread.id}` },
      };
    },
  });
