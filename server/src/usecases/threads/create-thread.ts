import type { PersonAuthority } from '../../domain/authority.ts';
import { invalid } from '../../domain/errors.ts';
import type { IdGenerator, OrganizationId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { type Thread, titleFromPrompt } from '../../domain/thread.ts';
import { dayMs } from '../../domain/time.ts';
import type { NewThread, Store } from '../../storage/port/store.ts';
import type { Authorize } from '../authorize.ts';

interface CreateThreadInput {
  readonly prompt: string;
  readonly title?: string | undefined;
  readonly accountId?: string | undefined;
  readonly secondaryId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The request's trace ID: it leads from a failed reply back to the log. */
  readonly traceId: string;
}

/** Where the reply of a new thread goes: to the worker of this process if it has a free slot, or to any worker. */
interface ReplyQueue {
  /** Creates the thread and claims its reply in the same commit. Undefined if no slot is free. */
  readonly worker:
    | { createThread(...created: CreatedThread): ReturnType<Store['createThread']> | undefined }
    | undefined;
  replyWaiting(): void;
}

type CreatedThread = Parameters<Store['createThread']>;

const idempotencyKeptMs = dayMs;

interface ThreadCreationNeeds {
  readonly store: Pick<Store, 'createThread'>;
  readonly ids: Pick<IdGenerator, 'thread' | 'message'>;
  readonly sha256: (text: string) => string;
  readonly limits: Pick<Limits, 'replyDeadlineMs'>;
  readonly replySignals: ReplyQueue;
  readonly authorize: Authorize;
}

export type ThreadCreation = ReturnType<typeof createThreadCreation>;

export function createThreadCreation(needs: ThreadCreationNeeds) {
  const { store, ids, sha256, limits, replySignals, authorize } = needs;
  return { create };

  /** Resolves when the thread and its pending reply are stored. A repeated idempotency key creates no second thread. */
  async function create(principal: UserPrincipal, input: CreateThreadInput) {
    const { organizationId, userId, authority } = principal;
    const { prompt, title, accountId = null, secondaryId = null, traceId, idempotencyKey: key } = input;
    const fields = { title: title ?? titleFromPrompt(prompt), accountId, secondaryId };
    const bodyHash = () => sha256(JSON.stringify([prompt, title, accountId, secondaryId]));
    const newIds = { id: ids.thread(), messageId: ids.message(), replyId: ids.message() };
    const created = createWithReply(organizationId, authority, {
      ...fields,
      ...newIds,
      prompt,
      replyDeadlineMs: limits.replyDeadlineMs,
      traceId,
      ...(key !== undefined && { idempotency: { key, bodyHash: bodyHash(), keepMs: idempotencyKeptMs } }),
    });
    const result = await authorize(authority, created);
    if (result.outcome === 'key-reused') {
      throw invalid('`Idempotency-Key` was already used with a different request body.');
    }
    // A repeated create gets the first response again: except for ids and time, it is derived from the body, which is the same.
    const { id, messageId, replyId } =
      result.outcome === 'repeated' ? { ...result, id: result.threadId } : newIds;
    const thread: Thread = {
      ...fields,
      organizationId,
      id,
      userId,
      createdAt: result.createdAt,
      updatedAt: null,
      published: false,
      deletedAt: null,
    };
    return { thread, messageId, replyId };
  }

  /** If the worker of this process has a free slot, the reply is claimed for it in the same commit. */
  async function createWithReply(
    organizationId: OrganizationId,
    authority: PersonAuthority,
    thread: NewThread,
  ): ReturnType<Store['createThread']> {
    const claimed = replySignals.worker?.createThread(organizationId, thread, authority);
    if (claimed !== undefined) return claimed;
    const result = await store.createThread(organizationId, thread, authority);
    if (result !== 'unauthorized' && result.outcome === 'created') replySignals.replyWaiting();
    return result;
  }
}
