import { notFound, threadNotFound } from '../../domain/errors.ts';
import { type IdGenerator, isThreadId, type ThreadId } from '../../domain/id.ts';
import { changeRefused, type UserPrincipal } from '../../domain/principal.ts';
import { type Thread, undoMs } from '../../domain/thread.ts';
import type { ReplyName, Store } from '../../storage/port/store.ts';
import { auditNote, type Change, type UserChange } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import type { ThreadReads } from './get-thread.ts';

interface ThreadChangeNeeds {
  readonly store: Pick<Store, 'renameThread' | 'deleteThread' | 'restoreThread' | 'setThreadPublished'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly reads: Pick<ThreadReads, 'findReadable' | 'findOwn'>;
  readonly threadSignals: { changed(threadId: ThreadId): void };
  /** Called with the running replies that a deletion has cancelled. */
  readonly repliesCancelled: (replies: readonly ReplyName[]) => void;
  readonly authorize: Authorize;
}

export type ThreadChanges = ReturnType<typeof createThreadChanges>;

export function createThreadChanges(needs: ThreadChangeNeeds) {
  const { store, ids, reads, threadSignals, repliesCancelled, authorize } = needs;
  return { rename, remove, restore, publish, publishOwn };

  async function rename(principal: UserPrincipal, threadId: string, title: string): Promise<Thread> {
    const { organizationId, authority } = principal;
    if (!isThreadId(threadId)) throw threadNotFound();
    const renamed = store.renameThread(organizationId, threadId, title, authority);
    const result = await authorize(authority, renamed);
    if (result.outcome === 'renamed') {
      threadSignals.changed(threadId);
      return result.thread;
    }
    throw changeRefused(principal, result.outcome === 'missing' ? undefined : result.thread, 'rename it');
  }

  async function remove({ principal, initiator }: UserChange, threadId: string): Promise<ThreadId> {
    const { organizationId } = principal;
    if (!isThreadId(threadId)) throw threadNotFound();
    const note = auditNote(ids, initiator, 'thread.deleted', threadId);
    const result = await authorize(note.authority, store.deleteThread(organizationId, threadId, note));
    if (result.outcome === 'deleted') {
      const replies = result.cancelled.map((messageId) => ({ organizationId, threadId, messageId }));
      repliesCancelled(replies);
      threadSignals.changed(threadId);
      return threadId;
    }
    throw changeRefused(principal, result.outcome === 'missing' ? undefined : result.thread, 'delete it');
  }

  /** Undoes a deletion. Only the thread's creator can, and only for a limited time; otherwise the thread is not found. */
  async function restore({ principal, initiator }: UserChange, threadId: string): Promise<Thread> {
    const { organizationId } = principal;
    const note = auditNote(ids, initiator, 'thread.restored', threadId);
    const restore = (id: ThreadId) =>
      authorize(note.authority, store.restoreThread(organizationId, id, undoMs, note));
    const isRestored = isThreadId(threadId) && (await restore(threadId)) === 'restored';
    // The same error in every case, whether the thread never existed or was removed for good.
    if (!isRestored) throw notFound('No such thread, or its deletion can no longer be undone.');
    threadSignals.changed(threadId);
    return reads.findReadable(principal, threadId);
  }

  /** For the operator: publishes or unpublishes any thread. It does not change `updatedAt` (§2.1). */
  async function publish(change: Change, threadId: string, published: boolean): Promise<void> {
    if (!isThreadId(threadId) || !(await setPublished(change, threadId, published))) {
      throw notFound(`The organization has no thread ${threadId}: check the id and the organization.`);
    }
  }

  async function publishOwn(
    { principal, initiator }: UserChange,
    threadId: string,
    published: boolean,
  ): Promise<Thread> {
    const thread = await reads.findOwn(principal, threadId, 'publish or unpublish it');
    const { organizationId } = thread;
    if (!(await setPublished({ organizationId, initiator }, thread.id, published))) throw threadNotFound();
    return { ...thread, published };
  }

  async function setPublished(
    { organizationId, initiator }: Change,
    threadId: ThreadId,
    published: boolean,
  ): Promise<boolean> {
    const action = published ? 'thread.published' : 'thread.unpublished';
    const note = auditNote(ids, initiator, action, threadId);
    const write = store.setThreadPublished(organizationId, threadId, published, note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'missing') return false;
    threadSignals.changed(threadId);
    return true;
  }
}
