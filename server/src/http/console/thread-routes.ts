import type { FastifyReply } from 'fastify';
import { invalid } from '../../domain/errors.ts';
import { plainText } from '../../domain/excerpt.ts';
import type { UserId } from '../../domain/id.ts';
import { formerMember } from '../../domain/organization.ts';
import { type Thread, undoMs } from '../../domain/thread.ts';
import { limitPrompts } from '../../usecases/organization/limit-prompts.ts';
import { addReply, cancelReply } from '../../usecases/threads/change-replies.ts';
import {
  deleteThread,
  publishOwnThread,
  renameThread,
  restoreThread,
} from '../../usecases/threads/change-thread.ts';
import { createThread } from '../../usecases/threads/create-thread.ts';
import { findHome, getThreadView } from '../../usecases/threads/get-thread.ts';
import { listAccounts, listThreads } from '../../usecases/threads/list-threads.ts';
import { listRatings, listUnanswered, rateReply } from '../../usecases/threads/rate-replies.ts';
import { searchThreads, summarizeThreads, type ThreadRow } from '../../usecases/threads/search-threads.ts';
import { type Pieces, whileConnected } from '../long-responses.ts';
import { pageQuery, Type, text } from '../schema.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute, type MemberCall } from './route.ts';
import { threadEventStreams } from './thread-events.ts';
import { presentView } from './thread-presentation.ts';
import * as schemas from './thread-schemas.ts';

const limitDefault = 25;

export function threadRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  return [...readRoutes(options), ...changeRoutes(options), ...ratingRoutes(options)];
}

function readRoutes({ limits, heldRequests }: ConsoleOptions): readonly ConsoleRoute[] {
  const follow = threadEventStreams(heldRequests, limits);
  return [
    defineConsoleRoute('GET /threads', 'member', {
      query: Type.Object({
        scope: Type.Optional(Type.Enum(['mine', 'published'])),
        accountId: Type.Optional(text(0, limits.linkLengthMax)),
        search: Type.Optional(text(0, limits.titleLengthMax)),
        state: Type.Optional(schemas.state),
        /** The earliest activity, in milliseconds since 1970. */
        since: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
        ...pageQuery(limits),
      }),
      response: schemas.threadListSchema,
      async handle(call) {
        const { search = '', state, since, limit = limitDefault, ...selection } = call.query;
        const shown = (row: ThreadRow) => rowFor(call.principal.userId, row);
        if (search.trim() !== '' || state !== undefined || since !== undefined) {
          const input = { ...selection, search, state, since, limit };
          const { rows, nextCursor } = await whileConnected(call.reply.raw, ({ signal }) =>
            searchThreads(call, input, signal),
          );
          return { threads: rows.map(shown), nextCursor, truncated: false };
        }
        const { page, nextCursor, truncated } = await listThreads(call, { ...selection, limit });
        const threads = page.rows.map(({ thread }) => thread);
        const rows = await summarizeThreads(call.context, threads);
        return { threads: rows.map(shown), nextCursor, truncated };
      },
    }),
    defineConsoleRoute('GET /accounts', 'member', {
      query: Type.Object({ prefix: Type.Optional(text(0, limits.linkLengthMax)) }),
      response: schemas.accountsSchema,
      handle: async (call) => ({ accounts: await listAccounts(call, call.query.prefix ?? '') }),
    }),
    defineConsoleRoute('GET /threads/:id', 'member', {
      response: schemas.threadViewSchema,
      handle: (call) => viewFor(call, call.path.id),
    }),
    defineConsoleRoute('GET /threads/:id/events', 'member', {
      // Browsers reconnect on their own, and cannot send a header when they do.
      isBackground: true,
      response: null,
      handle: (call) => follow(call, call.path.id),
    }),
    defineConsoleRoute('GET /home/:id', 'person', {
      response: schemas.homeSchema,
      handle: async (call) => ({ organizationId: await findHome(call, call.path.id) }),
    }),
  ];
}

/** All but the first are only for the thread's creator, which the use cases check. */
function changeRoutes({ limits }: ConsoleOptions): readonly ConsoleRoute[] {
  const changed = (thread: Thread) => ({ thread: { ...thread, mine: true } });
  return [
    defineConsoleRoute('POST /threads', 'member', {
      body: schemas.newThreadBody(limits),
      status: 201,
      response: schemas.threadViewSchema,
      async handle(call) {
        const { body, traceId } = call;
        const idempotencyKey = idempotencyKeyOf(call.reply, limits.idempotencyKeyLengthMax);
        await limitPrompts(call);
        const { thread } = await createThread(call, { ...body, traceId, idempotencyKey });
        return viewFor(call, thread.id);
      },
    }),
    defineConsoleRoute('PATCH /threads/:id', 'member', {
      body: schemas.renameBody(limits),
      response: schemas.changedThreadSchema,
      handle: async (call) => changed(await renameThread(call, call.path.id, call.body.title)),
    }),
    defineConsoleRoute('POST /threads/:id/messages', 'member', {
      body: schemas.followUpBody(limits),
      status: 201,
      response: schemas.threadViewSchema,
      async handle(call) {
        await limitPrompts(call);
        await addReply(call, call.path.id, call.body.prompt, call.body.replaces);
        return viewFor(call, call.path.id);
      },
    }),
    defineConsoleRoute('PUT /threads/:id/published', 'member', {
      body: schemas.publishedBody,
      response: schemas.changedThreadSchema,
      handle: async (call) => changed(await publishOwnThread(call, call.path.id, call.body.published)),
    }),
    defineConsoleRoute('DELETE /threads/:id', 'member', {
      response: schemas.deletedSchema,
      async handle(call) {
        await deleteThread(call, call.path.id);
        return { undoSeconds: undoMs / 1000 };
      },
    }),
    defineConsoleRoute('POST /threads/:id/restore', 'member', {
      response: schemas.changedThreadSchema,
      handle: async (call) => changed(await restoreThread(call, call.path.id)),
    }),
    defineConsoleRoute('POST /threads/:id/retry', 'member', {
      response: schemas.threadViewSchema,
      async handle(call) {
        await limitPrompts(call);
        await addReply(call, call.path.id);
        return viewFor(call, call.path.id);
      },
    }),
    defineConsoleRoute('POST /threads/:id/stop', 'member', {
      response: schemas.threadViewSchema,
      async handle(call) {
        await cancelReply(call, call.path.id);
        return viewFor(call, call.path.id);
      },
    }),
  ];
}

function rowFor(viewer: UserId, { thread, summary, found }: ThreadRow) {
  const createdBy = summary.author ?? formerMember;
  const mine = thread.userId === viewer;
  return { ...thread, ...summary, mine, createdBy, found: found ?? null };
}

async function viewFor(call: MemberCall, threadId: string): Promise<Pieces> {
  return presentView(await getThreadView(call, threadId));
}

/** As in the public API: repeating a create with the same key does not create a second thread. */
function idempotencyKeyOf({ request }: FastifyReply, lengthMax: number): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length >= 1 && key.length <= lengthMax) return key;
  throw invalid(`\`Idempotency-Key\` must be a string with 1 to ${lengthMax} characters.`);
}

/** Ratings of replies, and what admins do about questions that the documents do not answer. */
function ratingRoutes({ limits }: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    defineConsoleRoute('GET /threads/:id/ratings', 'member', {
      response: schemas.ratingsSchema,
      handle: async (call) => ({ ratings: await listRatings(call, call.path.id) }),
    }),
    defineConsoleRoute('PUT /threads/:id/rating', 'member', {
      body: schemas.ratingBody(limits),
      async handle(call) {
        const { messageId, value, comment = '' } = call.body;
        const rating = value && { value, comment: comment.trim() === '' ? null : comment };
        await rateReply(call, call.path.id, messageId, rating);
      },
    }),
    defineConsoleRoute('GET /unanswered', 'admin', {
      query: Type.Object(pageQuery(limits)),
      response: schemas.unansweredPageSchema,
      async handle(call) {
        const { replies, nextCursor } = await listUnanswered(call, { limit: 20, ...call.query });
        const shown = replies.map((found) => ({
          ...found,
          askedBy: found.askedBy ?? formerMember,
          at: found.unansweredAt,
          reply: plainText(found.reply),
          complaints: found.complaints.map(({ email, comment, ratedAt }) => {
            return { by: email ?? formerMember, comment, at: ratedAt };
          }),
        }));
        return { replies: shown, nextCursor };
      },
    }),
  ];
}
