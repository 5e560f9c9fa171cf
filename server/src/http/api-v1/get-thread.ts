import type { Principal } from '../../domain/principal.ts';
import { findRunningReply, waitForReply } from '../../usecases/replies/wait-for-reply.ts';
import { getThread, getThreadVersion } from '../../usecases/threads/get-thread.ts';
import { entityTag, matchesEntityTag, preferredWaitSeconds } from '../headers.ts';
import { type Call, defineRoute } from '../route.ts';
import { Type } from '../schema.ts';
import { presentMessage, presentThread } from './presentation.ts';
import {
  conditionalHeaders,
  definitions,
  messageSchema,
  statusSchema,
  threadPath,
  threadSchema,
} from './schemas.ts';

export const getThreadRoute = (threadUrl: (id: string) => string) =>
  defineRoute({
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
    success: {
      status: 200,
      conditional: true,
      schema: Type.Object({
        thread: threadSchema,
        messages: Type.Array(messageSchema),
        status: statusSchema,
      }),
    },
    errors: {},
    async handle(call) {
      const waitSeconds = preferredWaitSeconds(call.headers.prefer);
      const headers: Record<string, string> =
        waitSeconds === undefined ? {} : { 'preference-applied': `wait=${waitSeconds}` };
      const principal = await waitForEnd(call, waitSeconds ?? 0);
      // Everything that the response depends on: its format, the thread's URL, and the thread's content.
      const etagOf = (version: number) => entityTag(`${shape} ${threadUrl(call.path.id)} ${version}`);
      const known = call.headers['if-none-match'];
      if (known !== undefined) {
        const etag = etagOf(await getThreadVersion(call.context, principal, call.path.id));
        if (matchesEntityTag(known, etag)) return { body: undefined, etag, headers };
      }
      const { thread, version, messages, status } = await getThread(call.context, principal, call.path.id);
      return {
        body: {
          thread: presentThread(thread, threadUrl(thread.id)),
          messages: messages.map(presentMessage),
          status,
        },
        etag: etagOf(version),
        headers,
      };
    },
  });

const shape = entityTag(JSON.stringify(definitions));

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

/** Resolves with the caller once no reply is running in the thread, or the time is up. Loads no message. */
async function waitForEnd(call: GetThreadCall, waitSeconds: number): Promise<Principal> {
  const { context, principal, path, hold } = call;
  if (waitSeconds === 0) return principal;
  const reply = await findRunningReply(context, principal, path.id);
  if (reply === undefined) return principal;
  return hold(waitSeconds * 1000, (until) => waitForReply(context, reply, until));
}

type GetThreadCall = Pick<
  Call<Principal, { id: string }, unknown, unknown, unknown>,
  'context' | 'principal' | 'path' | 'hold'
>;
