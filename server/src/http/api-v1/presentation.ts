import { memoized } from '../../domain/memoized.ts';
import { deriveThreadStatus, type Message } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { iso, isoOrNull } from '../../domain/time.ts';
import type { WholeThread } from '../../usecases/threads/get-thread.ts';
import type { ListedThreads } from '../../usecases/threads/list-threads.ts';
import { entityTag } from '../request.ts';
import { Rendered } from '../route.ts';
import type { MessageJson, ThreadJson, ThreadPageJson, WholeThreadJson } from './schemas.ts';

/** A thread as in §2.1. `threadUrl` is null in the create response only. */
export function presentThread(thread: Thread, threadUrl: string | null): ThreadJson {
  return {
    id: thread.id,
    title: thread.title,
    createdAt: iso(thread.createdAt),
    updatedAt: isoOrNull(thread.updatedAt),
    accountId: thread.accountId,
    secondaryId: thread.secondaryId,
    published: thread.published,
    deleted: thread.deletedAt !== null,
    threadUrl,
  };
}

/**
 * The response of get, rendered once for each object: while a thread does not change, the store may return the same object
 * again. `threadUrl` returns the same URL for a thread each time.
 */
export function wholeThreadRenderer(
  threadUrl: (id: string) => string,
): (found: WholeThread) => Rendered<WholeThreadJson> {
  return memoized(({ thread, messages }) => {
    const body: WholeThreadJson = {
      thread: presentThread(thread, threadUrl(thread.id)),
      messages: messages.map(presentMessage),
      status: deriveThreadStatus(messages),
    };
    return new Rendered(JSON.stringify(body));
  });
}

/**
 * Messages of a large thread as JSON, without the brackets of the array. Responses that send a part at the same time
 * share it.
 */
export const renderMessages = memoized((messages: readonly Message[]) =>
  Buffer.from(messages.map((message) => JSON.stringify(presentMessage(message))).join()),
);

interface RenderedPage {
  readonly body: Rendered<ThreadPageJson>;
  readonly etag: string;
  readonly walked: number | undefined;
  readonly truncated: boolean;
}

/**
 * Pages of threads, joined from the JSON of each thread. Both are kept with the object of the store that they were made
 * of. The listing of a page object is always the same; the state of the walk may differ, and is compared.
 */
export function pageRenderer(threadUrl: (id: string) => string): (listed: ListedThreads) => RenderedPage {
  const jsonOf = memoized((thread: Thread) => JSON.stringify(presentThread(thread, threadUrl(thread.id))));
  const keptPages = new WeakMap<object, RenderedPage>();
  return (listed) => {
    const { page, walked, truncated } = listed;
    const kept = keptPages.get(page);
    if (kept !== undefined && kept.walked === walked && kept.truncated === truncated) return kept;
    const threads = `{"threads":[${listed.threads.map(jsonOf).join(',')}],"nextCursor":`;
    const { nextCursor } = listed;
    const end = `,"truncated":${truncated}}`;
    // The ETag ignores the text of the cursor: it is sealed for each response, and older ones stay valid.
    const rendered = {
      body: new Rendered<ThreadPageJson>(`${threads}${JSON.stringify(nextCursor)}${end}`),
      etag: entityTag(`${threads}${nextCursor === null ? 'null' : '""'}${end}`),
      walked,
      truncated,
    };
    keptPages.set(page, rendered);
    return rendered;
  };
}

/** A message as in §2.2. A user message has only its text. */
export function presentMessage(message: Message): MessageJson {
  const { id, threadId, role, content, createdAt } = message;
  const reply = message.role === 'assistant' ? message : undefined;
  return {
    id,
    threadId,
    role,
    content,
    status: reply?.status ?? null,
    createdAt: iso(createdAt),
    completedAt: isoOrNull(reply?.completedAt ?? null),
    // Only the console shows when a step was taken.
    steps: reply?.steps.map(({ description }) => ({ description })) ?? null,
    sources: (reply?.sources ?? null) as MessageJson['sources'],
    attachments: null,
    model: reply?.model ?? null,
  };
}
