import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId, type OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import type { SignedIn } from '../people/read-session.ts';

/** In which of the organizations that the session may enter the person can read the thread: its address names none. */
export async function findThreadHome(
  { store }: Context,
  { session: { userId, access } }: Pick<SignedIn, 'session'>,
  threadId: string,
): Promise<OrganizationId> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const { entered } = await store.listMemberships(userId, access);
  for (const { organizationId } of entered) {
    const version = await store.threadVersion(organizationId, threadId, { userId });
    if (version !== undefined) return organizationId;
  }
  throw threadNotFound();
}
