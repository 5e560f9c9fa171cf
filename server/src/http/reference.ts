import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify';
import { accessTokenScope } from '../domain/credential.ts';
import { textFormat } from './schema.ts';
import { compilersFactory } from './validation.ts';

const description = `Create a thread with a prompt; its reply is generated in the background. Read the thread until \`status.state\`
is \`idle\` or \`error\`. Every failure has the body \`{"error": {"code", "message", "trace_id"}}\` with one of six codes. [Guides and concepts](/docs/).`;

/** `/openapi.json`. The documentation shows it as a page. */
export function publishReference(app: FastifyInstance, api: FastifyPluginAsync): void {
  let document: Promise<string> | undefined;
  app.get('/openapi.json', async (_request, reply) => {
    document ??= openApiDocument(api);
    return reply.header('content-type', 'application/json; charset=utf-8').send(await document);
  });
}

/** Where the public interface is mounted. */
export const apiPrefix = '/api/v1';

/**
 * The OpenAPI document as it is served and committed, byte for byte. The first request creates it, from a second instance
 * of the routes that serves no requests, so that its library does not delay the start of the service.
 */
async function openApiDocument(api: FastifyPluginAsync): Promise<string> {
  const { default: swagger } = await import('@fastify/swagger');
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
  return `${JSON.stringify(app.swagger(), withoutOwnFormat, 2)}\n`;
}

/** Strict validators refuse a format that they do not know. */
function withoutOwnFormat(key: string, value: unknown): unknown {
  return key === 'format' && value === textFormat ? undefined : value;
}
