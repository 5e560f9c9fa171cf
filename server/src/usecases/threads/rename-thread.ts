import { threadNotFound } from '../../domain/errors.ts';
import { isThreadId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import { changeRefused } from '../../domain/visibility.ts';
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
  throw changeRefused(principal, result.outcome === 'missing' ? undefined : result.thread, 'rename it');
}
