import { notFound, threadNotFound } from '../../domain/errors.ts';
import { isThreadId, type ThreadId } from '../../domain/id.ts';
import { changeRefused } from '../../domain/principal.ts';
import { type Thread, undoMs } from '../../domain/thread.ts';
import { reportEnded } from '../../replies/index.ts';
import { authorize } from '../authorize.ts';
import type { PersonCall } from '../context.ts';
import { auditNote, type Change, type UserChange } from '../organization/audit-log.ts';
import { findOwnThread, findReadableThread } from './get-thread.ts';

export async function renameThread(call: PersonCall, threadId: string, title: string): Promise<Thread> {
  const { context, principal } = call;
  const { store, threadSignals } = context;
  const { organizationId, authority } = principal;
  if (!isThreadId(threadId)) throw threadNotFound();
  const renamed = store.renameThread(organizationId, threadId, title, authority);
  const result = await authorize(context, authority, renamed);
  if (result.outcome === 'renamed') {
    threadSignals.changed(threadId);
    return result.thread;
  }
  throw changeRefused(principal, result.outcome === 'missing' ? undefined : result.thread, 'rename it');
}

export async function deleteThread(change: UserChange, threadId: string): Promise<ThreadId> {
  const { context, principal } = change;
  const { store, threadSignals } = context;
  const { organizationId } = principal;
  if (!isThreadId(threadId)) throw threadNotFound();
  const note = auditNote(change, 'thread.deleted', threadId);
  const result = await authorize(context, note.authority, store.deleteThread(organizationId, threadId, note));
  if (result.outcome === 'deleted') {
    const replies = result.cancelled.map((messageId) => ({ organizationId, threadId, messageId }));
    reportEnded(context, 'cancelled', replies);
    threadSignals.changed(threadId);
    return threadId;
  }
  throw changeRefused(principal, result.outcome === 'missing' ? undefined : result.thread, 'delete it');
}

/** Undoes a deletion. Only the thread's creator can, and only for a limited time; otherwise the thread is not found. */
export async function restoreThread(change: UserChange, threadId: string): Promise<Thread> {
  const { context } = change;
  const { organizationId } = change.principal;
  const note = auditNote(change, 'thread.restored', threadId);
  const restore = (id: ThreadId) =>
    authorize(context, note.authority, context.store.restoreThread(organizationId, id, undoMs, note));
  const isRestored = isThreadId(threadId) && (await restore(threadId)) === 'restored';
  // The same error in every case, whether the thread never existed or was removed for good.
  if (!isRestored) throw notFound('No such thread, or its deletion can no longer be undone.');
  context.threadSignals.changed(threadId);
  return findReadableThread(change, threadId);
}

/** For the operator: publishes or unpublishes any thread. It does not change `updatedAt` (§2.1). */
export async function publishThread(change: Change, threadId: string, published: boolean): Promise<void> {
  if (!isThreadId(threadId) || !(await setPublished(change, threadId, published))) {
    throw notFound(`The organization has no thread ${threadId}: check the id and the organization.`);
  }
}

export async function publishOwnThread(
  change: UserChange,
  threadId: string,
  published: boolean,
): Promise<Thread> {
  const thread = await findOwnThread(change, threadId, 'publish or unpublish it');
  const { organizationId } = thread;
  if (!(await setPublished({ ...change, organizationId }, thread.id, published))) throw threadNotFound();
  return { ...thread, published };
}

async function setPublished(change: Change, threadId: ThreadId, published: boolean): Promise<boolean> {
  const { context, organizationId } = change;
  const action = published ? 'thread.published' : 'thread.unpublished';
  const note = auditNote(change, action, threadId);
  const write = context.store.setThreadPublished(organizationId, threadId, published, note);
  const outcome = await authorize(context, note.authority, write);
  if (outcome === 'missing') return false;
  context.threadSignals.changed(threadId);
  return true;
}
