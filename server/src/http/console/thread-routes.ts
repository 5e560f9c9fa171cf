import type { FastifyReply } from 'fastify';
import { invalid } from '../../domain/errors.ts';
import { plainText } from '../../domain/excerpt.ts';
import type { UserId } from '../../domain/id.ts';
import type { DescribeSupport } from '../../domain/message.ts';
import { formerMember } from '../../domain/organization.ts';
import { type Thread, undoMs } from '../../domain/thread.ts';
import type { LimitPrompts } from '../../usecases/organization/limit-prompts.ts';
import type { ThreadRow } from '../../usecases/threads/search-threads.ts';
import type { Replies, Threads } from '../../usecases/threads/threads.ts';
import { pageQuery, Type, text } from '../schema.ts';
import { whileConnected } from '../wire/index.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { threadEventStreams } from './thread-events.ts';
import { createThreadPresentation, type ThreadPresentation } from './thread-presentation.ts';
import * as schemas from './thread-schemas.ts';

const limitDefault = 25;

export interface ThreadRouteNeeds {
  readonly threads: Threads;
  readonly replies: Omit<Replies, 'findRunning' | 'waitUntilEnded'>;
  readonly limitPrompts: LimitPrompts;
  readonly describeSupport: DescribeSupport;
  readonly now: () => number;
}

export function threadRoutes(needs: ThreadRouteNeeds, options: ConsoleOptions): readonly ConsoleRoute[] {
  const presentation = createThreadPresentation(needs.describeSupport);
  return [
    ...readRoutes(needs, presentation, options),
    ...changeRoutes(needs, presentation, options),
    ...ratingRoutes(needs.replies, options),
  ];
}

function readRoutes(
  { threads, now }: ThreadRouteNeeds,
  { presentView, presentEvent }: ThreadPresentation,
  { limits, heldRequests, report }: ConsoleOptions,
): readonly ConsoleRoute[] {
  const follow = threadEventStreams({ threads, presentEvent, now, heldRequests, report, limits });
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
            threads.search(call.principal, input, signal),
          );
          return { threads: rows.map(shown), nextCursor, truncated: false };
        }
        const { page, nextCursor, truncated } = await threads.list(call.principal, { ...selection, limit });
        const rows = await threads.summarize(page.rows.map(({ thread }) => thread));
        return { threads: rows.map(shown), nextCursor, truncated };
      },
    }),
    defineConsoleRoute('GET /accounts', 'member', {
      query: Type.Object({ prefix: Type.Optional(text(0, limits.linkLengthMax)) }),
      response: schemas.accountsSchema,
      handle: async (call) => ({
        accounts: await threads.listAccounts(call.principal, call.query.prefix ?? ''),
      }),
    }),
    defineConsoleRoute('GET /threads/:id', 'member', {
      response: schemas.threadViewSchema,
      handle: async (call) => presentView(await threads.getView(call.principal, call.path.id)),
    }),
    defineConsoleRoute('GET /threads/:id/events', 'member', {
      // Browsers reconnect on their own, and cannot send a header when they do.
      isBackground: true,
      response: null,
      handle: (call) => follow(call, call.path.id),
    }),
    defineConsoleRoute('GET /home/:id', 'person', {
      response: schemas.homeSchema,
      handle: async (call) => ({ organizationId: await threads.findHome(call.session, call.path.id) }),
    }),
  ];
}

/** All but the first are only for the thread's creator, which the use cases check. */
function changeRoutes(
  { threads, replies, limitPrompts }: ThreadRouteNeeds,
  { presentView }: ThreadPresentation,
  { limits }: ConsoleOptions,
): readonly ConsoleRoute[] {
  const changed = (thread: Thread) => ({ thread: { ...thread, mine: true } });
  return [
    defineConsoleRoute('POST /threads', 'member', {
      body: schemas.newThreadBody(limits),
      status: 201,
      response: schemas.threadViewSchema,
      async handle(call) {
        const { body, traceId } = call;
        const idempotencyKey = idempotencyKeyOf(call.reply, limits.idempotencyKeyLengthMax);
        await limitPrompts(call.principal);
        const { thread } = await threads.create(call.principal, { ...body, traceId, idempotencyKey });
        return presentView(await threads.getView(call.principal, thread.id));
      },
    }),
    defineConsoleRoute('PATCH /threads/:id', 'member', {
      body: schemas.renameBody(limits),
      response: schemas.changedThreadSchema,
      handle: async (call) => changed(await threads.rename(call.principal, call.path.id, call.body.title)),
    }),
    defineConsoleRoute('POST /threads/:id/messages', 'member', {
      body: schemas.followUpBody(limits),
      status: 201,
      response: schemas.threadViewSchema,
      async handle(call) {
        await limitPrompts(call.principal);
        await replies.add(call, call.path.id, call.body.prompt, call.body.replaces);
        return presentView(await threads.getView(call.principal, call.path.id));
      },
    }),
    defineConsoleRoute('PUT /threads/:id/published', 'member', {
      body: schemas.publishedBody,
      response: schemas.changedThreadSchema,
      handle: async (call) => changed(await threads.publishOwn(call, call.path.id, call.body.published)),
    }),
    defineConsoleRoute('DELETE /threads/:id', 'member', {
      response: schemas.deletedSchema,
      async handle(call) {
        await threads.remove(call, call.path.id);
        return { undoSeconds: undoMs / 1000 };
      },
    }),
    defineConsoleRoute('POST /threads/:id/restore', 'member', {
      response: schemas.changedThreadSchema,
      handle: async (call) => changed(await threads.restore(call, call.path.id)),
    }),
    defineConsoleRoute('POST /threads/:id/retry', 'member', {
      response: schemas.threadViewSchema,
      async handle(call) {
        await limitPrompts(call.principal);
        await replies.add(call, call.path.id);
        return presentView(await threads.getView(call.principal, call.path.id));
      },
    }),
    defineConsoleRoute('POST /threads/:id/stop', 'member', {
      response: schemas.threadViewSchema,
      async handle(call) {
        await replies.cancel(call.principal, call.path.id);
        return presentView(await threads.getView(call.principal, call.path.id));
      },
    }),
  ];
}

function rowFor(viewer: UserId, { thread, summary, found }: ThreadRow) {
  const createdBy = summary.author ?? formerMember;
  const mine = thread.userId === viewer;
  return { ...thread, ...summary, mine, createdBy, found: found ?? null };
}

/** As in the public API: repeating a create with the same key does not create a second thread. */
function idempotencyKeyOf({ request }: FastifyReply, lengthMax: number): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length >= 1 && key.length <= lengthMax) return key;
  throw invalid(`\`Idempotency-Key\` must be a string with 1 to ${lengthMax} characters.`);
}

/** Ratings of replies, and what admins do about questions that the documents do not answer. */
function ratingRoutes(
  replies: Pick<Replies, 'rate' | 'listRatings' | 'listUnanswered'>,
  { limits }: ConsoleOptions,
): readonly ConsoleRoute[] {
  return [
    defineConsoleRoute('GET /threads/:id/ratings', 'member', {
      response: schemas.ratingsSchema,
      handle: async (call) => ({ ratings: await replies.listRatings(call.principal, call.path.id) }),
    }),
    defineConsoleRoute('PUT /threads/:id/rating', 'member', {
      body: schemas.ratingBody(limits),
      async handle(call) {
        const { messageId, value, comment = '' } = call.body;
        const rating = value && { value, comment: comment.trim() === '' ? null : comment };
        await replies.rate(call.principal, call.path.id, messageId, rating);
      },
    }),
    defineConsoleRoute('GET /unanswered', 'admin', {
      query: Type.Object(pageQuery(limits)),
      response: schemas.unansweredPageSchema,
      async handle(call) {
        const { replies: found, nextCursor } = await replies.listUnanswered(call.principal, {
          limit: 20,
          ...call.query,
        });
        const shown = found.map((one) => ({
          ...one,
          askedBy: one.askedBy ?? formerMember,
          at: one.unansweredAt,
          reply: plainText(one.reply),
          complaints: one.complaints.map(({ email, comment, ratedAt }) => {
            return { by: email ?? formerMember, comment, at: ratedAt };
          }),
        }));
        return { replies: shown, nextCursor };
      },
    }),
  ];
}
