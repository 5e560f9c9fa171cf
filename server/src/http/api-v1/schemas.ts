import type { Static, TSchema } from 'typebox';
import { errorCodes } from '../../domain/errors.ts';
import { messageStatuses } from '../../domain/message.ts';
import { nullable, object, Type } from '../schema.ts';

const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-15T09:30:00.000Z'] });

/** Named in the OpenAPI document, so that generated clients have the specification's type names. */
const named = <T extends TSchema>(id: string, schema: T) => ({ ...schema, $id: id });
const reference = <T extends TSchema>(schema: T & { $id: string }) =>
  Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` });

const threadDefinition = named(
  'Thread',
  object({
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

const messageDefinition = named(
  'ThreadMessage',
  object({
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

const statusDefinition = named(
  'ThreadStatus',
  object({
    state: Type.Enum(['idle', 'in_progress', 'error']),
    activeMessageId: nullable(Type.String()),
    latestUpdate: nullable(Type.String()),
    stepCount: Type.Integer({ minimum: 0 }),
  }),
);

const errorDefinition = named(
  'Failure',
  object({
    error: object({
      code: Type.Enum([...errorCodes]),
      message: Type.String(),
      trace_id: Type.String({ description: 'Unique id of the request; also in X-Request-Id.' }),
    }),
  }),
);

export const definitions = [threadDefinition, messageDefinition, statusDefinition, errorDefinition];
export const threadSchema = reference(threadDefinition);
export const messageSchema = reference(messageDefinition);
export const statusSchema = reference(statusDefinition);
export const errorSchema = reference(errorDefinition);

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

export type ThreadJson = Static<typeof threadDefinition>;
export type MessageJson = Static<typeof messageDefinition>;
export type WholeThreadJson = Static<typeof wholeThreadSchema>;
export type ThreadPageJson = Static<typeof threadPageSchema>;
