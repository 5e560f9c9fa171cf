import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify';
import { loadOnce } from '../../../../runtime/src/pure/load-once.ts';
import { accessTokenScope } from '../../domain/credential.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Message } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { errorStatus } from '../error-response.ts';
import type { Route } from '../route.ts';
import { textFormat } from '../schema.ts';
import { lazyCompilers } from '../validation.ts';
import { errorSchema, presentMessage, presentThread } from './presentation.ts';

/** The errors of any request under `/api/v1`, in the order in which they are checked. */
const commonErrors = {
  UNAUTHORIZED: 'The credential is missing, malformed or revoked.',
  NOT_FOUND:
    'No such thread, or the caller may not read it, or the public API is not enabled for the organization.',
  RATE_LIMITED: "The organization's daily quota is used up.",
  INVALID_PARAMS: 'The request is malformed.',
  INTERNAL_ERROR: 'Unexpected failure: retry with exponential backoff.',
} as const satisfies Partial<Record<ErrorCode, string>>;

const header = (description: string) => ({ description, type: 'string' });
const requestId = { 'X-Request-Id': header('The trace ID of the request.') };
const headers = {
  ...requestId,
  RateLimit: header('The remaining daily quota, and the seconds until it resets.'),
  'RateLimit-Policy': header('The daily quota.'),
};
/** Headers of specific errors: an unknown caller has no quota to report. */
const failureHeaders: Partial<Record<ErrorCode, object>> = {
  UNAUTHORIZED: { ...requestId, 'WWW-Authenticate': header('The expected scheme: Bearer.') },
  RATE_LIMITED: { ...headers, 'Retry-After': header('Seconds until the quota resets.') },
};

/** The part of a route's schema that only the OpenAPI document uses. */
export function describeRoute(route: Route): object {
  const { operationId, summary, description, success } = route;
  return {
    operationId,
    summary,
    description,
    tags: ['threads'],
    // An application can only read.
    security: [{ bearer: [] }, ...(route.method === 'GET' ? [{ application: [accessTokenScope] }] : [])],
    response: {
      [success.status]: {
        description: 'Success.',
        headers: { ...headers, ...successHeaders(route) },
        content: { 'application/json': { schema: success.schema, example: examples[operationId] } },
      },
      ...(success.conditional && {
        304: { description: 'Nothing has changed since the given ETag.', type: 'null', headers },
      }),
      ...failures(route),
    },
  };
}

function successHeaders({ success, headers: accepted }: Route) {
  return {
    ...(success.status === 201 && { Location: header('The path of the new thread.') }),
    ...(success.conditional && { ETag: header('For If-None-Match.') }),
    ...(accepted?.properties.prefer && {
      'Preference-Applied': header('The wait that was granted, if one was requested.'),
    }),
  };
}

function failures({ errors }: Route): Record<number, object> {
  const trace_id = '7d1f5c7e-0a56-4a58-9a0c-5f0b1c6f3f7a';
  const described = Object.entries({ ...commonErrors, ...errors }) as [ErrorCode, string][];
  return Object.fromEntries(
    described.map(([code, description]) => [
      errorStatus[code],
      {
        description: `${code}: ${description}`,
        headers: failureHeaders[code] ?? headers,
        content: {
          'application/json': {
            schema: errorSchema,
            example: { error: { code, message: description, trace_id } },
          },
        },
      },
    ]),
  );
}

/** An example exchange, rendered by the same code as a real one. */
const createdAt = Date.UTC(2026, 10, 15, 9, 30);
const thread = {
  id: 'thr_01kaq3w9e07n3v5b8d2f6h4j9k',
  title: 'How long do I have to return yarn?',
  accountId: 'acct_42',
  secondaryId: null,
  createdAt,
  updatedAt: null,
  published: false,
  deletedAt: null,
} as unknown as Thread;
const messages = [
  {
    id: 'msg_01kaq3w9e0a1b2c3d4e5f6g7h8',
    threadId: thread.id,
    role: 'user',
    content: 'How long do I have to return yarn?',
    createdAt,
  },
  {
    id: 'msg_01kaq3w9e0a1b2c3d4e5f6g7h9',
    threadId: thread.id,
    role: 'assistant',
    content: 'Unused yarn can be returned within 30 days of purchase.',
    createdAt,
    status: 'completed',
    completedAt: createdAt + 2400,
    steps: [{ description: 'Reading the prompt' }],
    sources: null,
    model: 'scripted',
  },
] as unknown as Message[];
const threadUrl = `https://skein.example/threads/${thread.id}`;

export const examples: Record<string, object> = {
  createThread: {
    thread: presentThread(thread, null),
    messageId: messages[0]?.id,
    responseMessageId: messages[1]?.id,
  },
  getThread: {
    thread: presentThread(thread, threadUrl),
    messages: messages.map(presentMessage),
    status: { state: 'idle', activeMessageId: null, latestUpdate: null, stepCount: 0 },
  },
  listThreads: { threads: [presentThread(thread, threadUrl)], nextCursor: null, truncated: false },
  renameThread: {
    thread: presentThread({ ...thread, title: 'Returns', updatedAt: createdAt + 60_000 }, threadUrl),
  },
  deleteThread: { id: thread.id, deleted: true },
};

const description = `Create a thread with a prompt; its reply is generated in the background. Read the thread until \`status.state\`
is \`idle\` or \`error\`. Every failure has the body \`{"error": {"code", "message", "trace_id"}}\` with one of six codes. [Guides and concepts](/docs/).`;

/** `/openapi.json`. The documentation shows it as a page. */
export function publishReference(app: FastifyInstance, api: FastifyPluginAsync): void {
  const document = loadOnce(() => openApiDocument(api));
  app.get('/openapi.json', async (_request, reply) => {
    return reply.header('content-type', 'application/json; charset=utf-8').send(await document());
  });
}

export const apiPrefix = '/api/v1';

/** Created with the first request, from a second instance of the routes: its library would delay the start. */
async function openApiDocument(api: FastifyPluginAsync): Promise<string> {
  const { default: swagger } = await import('@fastify/swagger');
  const { compilersFactory } = lazyCompilers();
  const app = fastify({ schemaController: { compilersFactory } });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Skein',
        version: '1',
        description,
        contact: { name: 'The operator of this server' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This server' }],
      tags: [{ name: 'threads', description: 'Conversation threads' }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: "An API key (`eak_…`), or an application's access token from `/oauth2/token`.",
          },
          application: {
            type: 'oauth2',
            description: 'A machine-to-machine application: it can read published threads.',
            flows: {
              clientCredentials: {
                tokenUrl: '/oauth2/token',
                scopes: { [accessTokenScope]: 'Read published threads' },
              },
            },
          },
        },
      },
    },
    // The specification's own type names instead of def-0, def-1, …
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `def-${index}`),
    },
  });
  await app.register(api, { prefix: apiPrefix });
  await app.ready();
  // Strict validators refuse a format that they do not know.
  const withoutOwnFormat = (key: string, value: unknown) =>
    key === 'format' && value === textFormat ? undefined : value;
  return `${JSON.stringify(app.swagger(), withoutOwnFormat, 2)}\n`;
}
