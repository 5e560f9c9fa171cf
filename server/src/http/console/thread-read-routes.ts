import { findThreadHome, getThreadView } from '../../usecases/threads/get-thread.ts';
import { listAccounts, listThreads } from '../../usecases/threads/list-threads.ts';
import { searchThreads } from '../../usecases/threads/search-threads.ts';
import { Type, text } from '../schema.ts';
import type { ConsoleOptions } from './options.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { ThreadEventStreams } from './thread-events.ts';
import { presentThread, presentView } from './thread-presentation.ts';
import {
  accountsSchema,
  threadHomeSchema,
  threadListSchema,
  threadPath,
  threadViewSchema,
} from './thread-schemas.ts';

const limitDefault = 25;

export function threadReadRoutes({ limits, heldRequests }: ConsoleOptions): readonly ConsoleRoute[] {
  const streams = new ThreadEventStreams(heldRequests, limits);

  const list = defineConsoleRoute({
    method: 'GET',
    url: '/threads',
    caller: 'member',
    query: Type.Object({
      scope: Type.Optional(Type.Enum(['mine', 'published'])),
      accountId: Type.Optional(text(0, limits.linkLengthMax)),
      search: Type.Optional(text(0, limits.titleLengthMax)),
      cursor: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSizeMax })),
    }),
    response: threadListSchema,
    async handle({ context, principal, query: { search = '', limit = limitDefault, ...selection } }) {
      const { threads, nextCursor, truncated } =
        search.trim() === ''
          ? await listThreads(context, principal, { ...selection, limit })
          : await searchThreads(context, principal, { ...selection, limit, search });
      const shown = threads.map((thread) => presentThread(thread, thread.userId === principal.userId));
      return { threads: shown, nextCursor, truncated };
    },
  });

  const accounts = defineConsoleRoute({
    method: 'GET',
    url: '/accounts',
    caller: 'member',
    query: Type.Object({ prefix: Type.Optional(text(0, limits.linkLengthMax)) }),
    response: accountsSchema,
    async handle({ context, principal, query: { prefix = '' } }) {
      return { accounts: await listAccounts(context, principal, prefix) };
    },
  });

  const get = defineConsoleRoute({
    method: 'GET',
    url: '/threads/:id',
    caller: 'member',
    path: threadPath,
    response: threadViewSchema,
    async handle({ context, principal, path }) {
      return presentView(await getThreadView(context, principal, path.id));
    },
  });

  const follow = defineConsoleRoute({
    method: 'GET',
    url: '/threads/:id/events',
    caller: 'member',
    path: threadPath,
    response: null,
    async handle(call) {
      await streams.follow(call, call.path.id);
      return undefined;
    },
  });

  return [list, accounts, get, follow, home];
}

const home = defineConsoleRoute({
  method: 'GET',
  url: '/threads/:id/home',
  caller: 'person',
  path: threadPath,
  response: threadHomeSchema,
  async handle({ context, session, path }) {
    return { organizationId: await findThreadHome(context, session, path.id) };
  },
});
