import type { Limits } from '../../domain/limits.ts';
import { messageStatuses, threadStates } from '../../domain/message.ts';
import { boolean, count, type Json, nullable, number, object, string, Type, text, time } from '../schema.ts';

export const newThreadBody = (limits: Limits) =>
  object({
    prompt: text(1, limits.promptLengthMax),
    title: Type.Optional(text(1, limits.titleLengthMax)),
    accountId: Type.Optional(text(0, limits.linkLengthMax)),
  });

export const renameBody = (limits: Limits) => object({ title: text(1, limits.titleLengthMax) });

export const followUpBody = (limits: Limits) =>
  object({
    prompt: text(1, limits.promptLengthMax),
    /** The id of the thread's last prompt, if this is an edited version of it. */
    replaces: Type.Optional(text(1, 255)),
  });

export const publishedBody = object({ published: boolean });

const threadProperties = {
  id: string,
  title: string,
  createdAt: time,
  updatedAt: nullable(time),
  accountId: nullable(string),
  published: boolean,
  /** Whether the person created it, and so may change it. */
  mine: boolean,
};
export const threadSchema = object(threadProperties);

export const changedThreadSchema = object({ thread: threadSchema });

export const state = Type.Enum([...threadStates]);

/** A text in pieces: those with `hit` are words that were searched for. */
export const segmentsSchema = Type.Array(object({ text: string, hit: boolean }));

export const threadRowSchema = object({
  ...threadProperties,
  state,
  createdBy: string,
  /** The beginning of the latest finished reply in plain text; empty if there is none. */
  line: string,
  /** Null without a search. `text` is the best part of a message; null if only the title was found. */
  found: nullable(object({ title: segmentsSchema, text: nullable(segmentsSchema) })),
});

export const threadListSchema = object({
  threads: Type.Array(threadRowSchema),
  /** A page of a search may be shorter although more follow. */
  nextCursor: nullable(string),
  /** Whether there are older threads than the list can reach. Filtering by account shows more of them. */
  truncated: boolean,
});

export const accountsSchema = object({ accounts: Type.Array(string) });

export const homeSchema = object({ organizationId: string });

export const deletedSchema = object({ undoSeconds: number });

export const userMessageSchema = object({
  id: string,
  role: Type.Literal('user'),
  content: string,
  createdAt: time,
  /** The prompt that this one is an edited version of. */
  replaces: Type.Optional(string),
});

export const stepSchema = object({
  description: string,
  /** From the reply's creation; null where it was not recorded. */
  elapsedMs: nullable(count),
});

export const sourceSchema = object({ id: string, title: string, url: nullable(string), snippet: string });

/** How many statements a reply makes, how many of them were found in its sources, and where they are in `content`. */
export const verdictSchema = object({
  /** `7 of 9 statements found in 2 sources`; `Quoted from 2 sources` for a reply that only quotes. */
  summary: string,
  statements: count,
  found: count,
  /** In order. A long reply has more statements than are listed. */
  checked: Type.Array(
    object({
      /** In UTF-16 units: `content.slice(start, end)`. */
      start: count,
      end: count,
      /** The numbers of the sources that support it, from 1. */
      sources: Type.Array(Type.Integer({ minimum: 1 })),
    }),
  ),
});

const status = Type.Enum([...messageStatuses]);

export const replySchema = object({
  id: string,
  role: Type.Literal('assistant'),
  content: string,
  createdAt: time,
  status,
  completedAt: nullable(time),
  steps: Type.Array(stepSchema),
  sources: nullable(Type.Array(sourceSchema)),
  model: nullable(string),
  /** For support. Null unless the person created the thread. */
  traceId: nullable(string),
  /** Why it failed. Null unless the person created the thread. */
  failure: nullable(string),
  /** Null while it is being written, and for replies whose statements were not checked. */
  verdict: nullable(verdictSchema),
});

export const messageSchema = Type.Union([userMessageSchema, replySchema]);

const ratingProperties = { messageId: string, value: Type.Enum(['up', 'down']) };

/** What the person thinks of a reply; `value` null takes it back. */
export const ratingBody = (limits: Limits) =>
  object({
    messageId: text(1, 255),
    value: nullable(ratingProperties.value),
    comment: Type.Optional(text(0, limits.ratingCommentLengthMax)),
  });

export const ratingsSchema = object({
  ratings: Type.Array(object({ ...ratingProperties, comment: nullable(string) })),
});

export const unansweredSchema = object({
  threadId: string,
  messageId: string,
  title: string,
  accountId: nullable(string),
  askedBy: string,
  at: time,
  /** The start of the prompt, and of the reply as plain text. */
  prompt: string,
  reply: string,
  /** The latest thumbs down. Empty if the reply itself found no answer. */
  complaints: Type.Array(object({ by: string, comment: nullable(string), at: time })),
});

/** A page may be empty although more follow. */
export const unansweredPageSchema = object({
  replies: Type.Array(unansweredSchema),
  nextCursor: nullable(string),
});

export const threadHeadSchema = object({ ...threadProperties, createdBy: string });

const viewProperties = {
  thread: threadHeadSchema,
  messages: Type.Array(messageSchema),
  state,
};
export const threadViewSchema = object(viewProperties);

/** The server-sent events of a live thread. */
export const threadEventSchemas = {
  /** The whole thread: the first event, and every change that `progress` cannot express. */
  view: object({ ...viewProperties, now: time }),
  progress: object({
    messageId: string,
    status,
    /** Steps from this index on are replaced. */
    stepsFrom: count,
    steps: Type.Array(stepSchema),
    /** The text from this index (in UTF-16 units) on is replaced. */
    textFrom: count,
    text: string,
  }),
  /** Nothing has changed: the stream is alive. */
  beat: object({}),
  /** The thread can no longer be read, or the session has ended. The stream ends. */
  gone: object({}),
};
export type ThreadEvents = {
  readonly [Name in keyof typeof threadEventSchemas]: Json<(typeof threadEventSchemas)[Name]>;
};
