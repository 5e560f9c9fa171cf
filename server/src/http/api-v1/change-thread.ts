import type { Limits } from '../../domain/limits.ts';
import { deleteThread, renameThread } from '../../usecases/threads/change-thread.ts';
import { defineRoute } from '../route.ts';
import { Type, text } from '../schema.ts';
import { presentThread } from './presentation.ts';
import { threadPath, threadSchema } from './schemas.ts';

export const renameThreadRoute = ({ titleLengthMax }: Limits, threadUrl: (id: string) => string) =>
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
      INVALID_PARAMS: 'The body fails validation, is not JSON, or has another field than `title`.',
      FORBIDDEN: 'The credential is org-wide, or the thread is published by another user.',
    },
    async handle({ context, principal, path, body }) {
      const thread = await renameThread(context, principal, path.id, body.title);
      return { body: { thread: presentThread(thread, threadUrl(thread.id)) } };
    },
  });

export const deleteThreadRoute = defineRoute({
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
  async handle({ context, principal, path, traceId }) {
    const initiator = { actor: { kind: 'user', userId: principal.userId }, traceId } as const;
    const id = await deleteThread({ context, principal, initiator }, path.id);
    return { body: { id, deleted: true as const } };
  },
});
