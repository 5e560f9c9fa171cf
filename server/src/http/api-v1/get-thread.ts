import type { LargeThread } from '../../usecases/threads/get-thread.ts';
import type { Replies, Threads } from '../../usecases/threads/threads.ts';
import { entityTag, matchesEntityTag, preferredWaitSeconds } from '../request.ts';
import { defineRoute } from '../route.ts';
import { Type } from '../schema.ts';
import type { Piece } from '../wire/index.ts';
import {
  conditionalHeaders,
  definitions,
  presentThread,
  renderMessages,
  type ThreadJson,
  threadPath,
  wholeThreadRenderer,
  wholeThreadSchema,
} from './presentation.ts';

export const getThreadRoute = (
  threads: Pick<Threads, 'get' | 'getVersion'>,
  replies: Pick<Replies, 'findRunning' | 'waitUntilEnded'>,
  threadUrl: (id: string) => string,
) => {
  const render = wholeThreadRenderer(threadUrl);
  const etagOf = threadTags(threadUrl);
  return defineRoute({
    method: 'GET',
    url: '/threads/:id',
    operationId: 'getThread',
    summary: 'Get a thread',
    description:
      'The thread with every message and its status. Poll it until `status.state` is `idle` or `error`, or let the ' +
      'service wait for you with `Prefer: wait`.',
    caller: 'anyone',
    path: threadPath,
    headers: getThreadHeaders,
    success: { status: 200, conditional: true, schema: wholeThreadSchema },
    errors: {},
    async handle(call) {
      const waitSeconds = preferredWaitSeconds(call.headers.prefer);
      const applied = waitSeconds !== undefined && {
        headers: { 'preference-applied': `wait=${waitSeconds}` },
      };
      const { path } = call;
      let { principal } = call;
      // Waits until no reply is running in the thread, or the time is up. Loads no message.
      const reply = waitSeconds ? await replies.findRunning(principal, path.id) : undefined;
      if (reply !== undefined) {
        const wait = (until: AbortSignal) => replies.waitUntilEnded(call.principal, reply, until);
        principal = await call.hold(waitSeconds! * 1000, wait);
      }
      if (call.headers['if-none-match'] !== undefined) {
        const etag = etagOf(await threads.getVersion(principal, path.id));
        if (matchesEntityTag(call.headers, etag)) return { body: undefined, etag, ...applied };
      }
      const found = await threads.get(principal, path.id);
      const etag = etagOf(found.version);
      if (!('parts' in found)) return { body: render(found), etag, ...applied };
      const thread = presentThread(found.thread, threadUrl(found.thread.id));
      return { body: renderLarge(thread, found), etag, ...applied };
    },
  });
};

async function* renderLarge(json: ThreadJson, found: LargeThread): AsyncGenerator<Piece> {
  const { thread, parts, status } = found;
  yield `{"thread":${JSON.stringify(json)},"messages":[`;
  let separator = '';
  for await (const messages of parts) {
    yield separator;
    yield await renderMessages(thread.organizationId, messages);
    separator = ',';
  }
  yield `],"status":${JSON.stringify(status)}}`;
}

const shape = JSON.stringify(definitions);

/** A tag covers all that the response depends on: its format and the service's URL, as a hash, and the thread's version. */
function threadTags(threadUrl: (id: string) => string): (version: number) => string {
  let start: string | undefined;
  return (version) => {
    // Not before the first request: the URL is known only once the service listens.
    start ??= entityTag(`${shape} ${threadUrl('')}`).slice(0, -1);
    return `${start}.${version.toString(36)}"`;
  };
}

const getThreadHeaders = Type.Object({
  ...conditionalHeaders.properties,
  prefer: Type.Optional(
    Type.String({
      description:
        '`wait=N`: hold the response until the reply is finished, for at most N seconds and never more than 25 (RFC 7240).',
      examples: ['wait=20'],
    }),
  ),
});
