import { ServiceError, threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import { canRead } from '../../domain/visibility.ts';
import type { Context } from '../context.ts';
import { refuseWrite } from '../credentials/authenticate.ts';

export async function renameThread(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
  title: string,
): Promise<Thread> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const { store, threadSignals } = context;
  const result = await store.renameThread(principal.organizationId, threadId, principal, title);
  if (result.outcome === 'renamed') {
    threadSignals.changed(threadId);
    return result.thread;
  }
  if (result.outcome === 'revoked') return refuseWrite(context, principal);
  // What may not be read is not there; what may be read, but is another's, is forbidden (§7).
  if (result.outcome === 'missing' || !canRead(principal, result.thread)) throw threadNotFound();
  throw new ServiceError('FORBIDDEN', 'Only the creator of a thread can rename it.');
}
