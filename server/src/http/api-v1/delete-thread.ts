import { deleteThread } from '../../usecases/threads/change-thread.ts';
import { defineRoute } from '../route.ts';
import { Type } from '../schema.ts';
import { threadPath } from './schemas.ts';

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
