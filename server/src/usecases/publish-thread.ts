import { ServiceError } from '../domain/errors.ts';
import { isThreadId, type OrganizationId } from '../domain/id.ts';
import type { Context } from './context.ts';

/** Shows a thread to its whole organization, or takes it back to its creator. Not an update of the thread (§2.1). */
export async function publishThread(
  { store }: Context,
  organizationId: OrganizationId,
  threadId: string,
  published: boolean,
): Promise<void> {
  const outcome = isThreadId(threadId)
    ? await store.setThreadPublished(organizationId, threadId, published)
    : 'missing';
  if (outcome === 'missing') {
    throw new ServiceError(
      'NOT_FOUND',
      `The organization has no thread ${threadId}: check the id and the organization.`,
    );
  }
}
