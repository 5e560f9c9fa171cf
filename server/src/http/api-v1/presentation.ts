import type { Static, TSchema } from 'typebox';
import { memoized } from '../../../../runtime/src/pure/memoized.ts';
import { errorCodes } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { deriveThreadStatus, type Message, messageStatuses, threadStates } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { iso, isoOrNull } from '../../domain/time.ts';
import type { WholeThread } from '../../usecases/threads/get-thread.ts';
import type { ListedThreads } from '../../usecases/threads/list-threads.ts';
import { jsonSlices, partRenderer } from '../render-in-turns.ts';
import { entityTag } from '../request.ts';
import { encoded, type Rendered, rendered } from '../route.ts';
import { nullable, Type } from '../schema.ts';

const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-15T09:30:00.000Z'] });

/**
 * Schemas that are named in the OpenAPI document, so that generated clients use the specification's type names. They are open:
 * a later version may send more fields, which a strict client must accept.
 */
export const definitions: TSchema[] = [];

function define<T extends TSchema>($id: string, schema: T) {
  definitions.push({ ...schema, $id });
  return Type.Unsafe<Static<T>>({ $ref: `${$id}#` });
}

export const threadSchema = define(
  'Thread',
  Type.Object({
    id: Type.String({ description: 'Stable thread identifier, prefixed `thr_`.' }),
    title: Type.String({ description: 'Human-readable title.' }),
    createdAt: time('Creation time (UTC).'),
    updatedAt: nullable(time('Null if the thread was never updated.')),
    accountId: nullable(Type.String({ description: 'Associated account id.' })),
    secondaryId: nullable(Type.String({ description: 'Secondary linkage, settable only at creation.' })),
    published: Type.Boolean({ description: 'Whether the thread is published to the organization.' }),
    deleted: Type.Boolean({ description: 'True after a soft delete.' }),
    threadUrl: nullable(
      Type.String({ description: 'Deep link to the thread. Null in the create response.' }),
    ),
  }),
);

const messageSchema = define(
  'ThreadMessage',
  Type.Object({
    id: Type.String({ description: 'Message identifier, prefixed `msg_`.' }),
    threadId: Type.String(),
    role: Type.Enum(['user', 'assistant']),
    content: Type.String(),
    status: nullable(Type.Enum([...messageStatuses])),
    createdAt: time('Creation time (UTC).'),
    completedAt: nullable(time('When the message reached a terminal state.')),
    steps: nullable(Type.Array(Type.Object({ description: Type.String() }))),
    sources: nullable(
      Type.Array(
        Type.Object({
          id: Type.String(),
          title: Type.String(),
          url: nullable(Type.String()),
          snippet: Type.String(),
        }),
      ),
    ),
    attachments: nullable(Type.Array(Type.Unknown())),
    model: nullable(Type.String({ description: 'Identifier of the model that produced the message.' })),
  }),
);

const statusSchema = define(
  'ThreadStatus',
  Type.Object({
    state: Type.Enum([...threadStates]),
    activeMessageId: nullable(Type.String()),
    latestUpdate: nullable(Type.String()),
    stepCount: Type.Integer({ minimum: 0 }),
  }),
);

export const errorSchema = define(
  'Failure',
  Type.Object({
    error: Type.Object({
      code: Type.Enum([...errorCodes]),
      message: Type.String(),
      trace_id: Type.String({ description: 'Unique id of the request; also in X-Request-Id.' }),
    }),
  }),
);

export const wholeThreadSchema = Type.Object({
  thread: threadSchema,
  messages: Type.Array(messageSchema),
  status: statusSchema,
});

export const threadPageSchema = Type.Object({
  threads: Type.Array(threadSchema),
  nextCursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Null means there are no more pages.',
  }),
  truncated: Type.Boolean({ description: 'Whether there are more threads than a walk can reach.' }),
});

export const threadPath = Type.Object({ id: Type.String({ description: 'Thread identifier.' }) });

export const conditionalHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'The ETag of an earlier response: 304 if nothing has changed since.' }),
  ),
});

export type ThreadJson = Static<typeof threadSchema>;
type MessageJson = Static<typeof messageSchema>;

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

/** Renders each object once: while a thread does not change, the store may return the same object again. */
export function wholeThreadRenderer(threadUrl: (id: string) => string) {
  return memoized(({ thread, messages }: WholeThread) =>
    encoded(
      rendered<Static<typeof wholeThreadSchema>>({
        thread: presentThread(thread, threadUrl(thread.id)),
        messages: messages.map(presentMessage),
        status: deriveThreadStatus(messages),
      }),
    ),
  );
}

export const renderMessages = partRenderer((message: Message) =>
  jsonSlices(presentMessage(message), 'content'),
);

interface RenderedPage {
  readonly body: Rendered<Static<typeof threadPageSchema>>;
  readonly etag: string;
  readonly walked: number | undefined;
  readonly truncated: boolean;
}

/** How long the ETag of a page with a cursor stays the same. An earlier cursor stays valid for longer than that. */
const taggedMs = limits.walkMsMax.default / 2;

/** Pages and threads are rendered once for each object of the store. Only the state of the walk may differ for a page. */
export function pageRenderer(threadUrl: (id: string) => string, now: () => number) {
  const jsonOf = memoized((thread: Thread) => JSON.stringify(presentThread(thread, threadUrl(thread.id))));
  const keptPages = new WeakMap<object, RenderedPage>();
  return (listed: ListedThreads): RenderedPage => {
    const { page, walked, truncated } = listed;
    const kept = keptPages.get(page);
    if (kept !== undefined && kept.walked === walked && kept.truncated === truncated) return kept;
    const threads = `{"threads":[${page.rows.map(({ thread }) => jsonOf(thread)).join(',')}],"nextCursor":`;
    const { nextCursor } = listed;
    const end = `,"truncated":${truncated}}`;
    // The ETag ignores the text of the cursor, which is sealed for each response.
    const rendered = {
      body: encoded(`${threads}${JSON.stringify(nextCursor)}${end}`),
      etag: entityTag(`${threads}${nextCursor === null ? null : Math.floor(now() / taggedMs)}${end}`),
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
