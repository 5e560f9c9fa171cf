import { createHash } from 'node:crypto';
import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify';
import { accessTokenScope } from '../domain/access-token.ts';
import { textFormat } from './schema.ts';
import { compilersFactory } from './validation.ts';

const description = `Create a thread with a prompt; its reply is generated in the background. Read the thread until \`status.state\`
is \`idle\` or \`error\`. Every failure has the body \`{"error": {"code", "message", "trace_id"}}\` with one of six codes. [Guides and concepts](/docs/).`;

/** Allows the page's own script, by its hash, and inline styles; nothing from other origins. */
function contentSecurityPolicy(page: string): string {
  const scripts = [...page.matchAll(/<script[^>]*>([^<]+)<\/script>/g)].map(([, script]) => script as string);
  const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return `default-src 'self'; script-src 'self' ${hashes.join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/** `/openapi.json`, and the reference page at `/docs/reference`, whose script is served from here too. */
export function publishReference(app: FastifyInstance, api: FastifyPluginAsync): void {
  let document: Promise<string> | undefined;
  app.get('/openapi.json', async (_request, reply) => {
    document ??= openApiDocument(api);
    return reply.header('content-type', 'application/json; charset=utf-8').send(await document);
  });
  const files = new Map<string, ReturnType<typeof referenceFile>>();
  for (const url of ['', '/', '/js/scalar.js'].map((path) => `${referenceUrl}${path}`)) {
    app.get(url, async (_request, reply) => {
      if (!files.has(url)) files.set(url, referenceFile(url));
      const { statusCode, headers, body } = await files.get(url)!;
      if (headers.location !== undefined) return reply.redirect(String(headers.location), statusCode);
      const type = String(headers['content-type']);
      if (type.startsWith('text/html')) reply.header('content-security-policy', contentSecurityPolicy(body));
      return reply.header('content-type', type).send(body);
    });
  }
}

/** The package is loaded with the first request for the page: it would take a seventh of the startup time. */
async function referenceFile(url: string) {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const reference = fastify();
  await reference.register(scalar, { routePrefix: referenceUrl, configuration });
  const { statusCode, headers, body } = await reference.inject(url);
  return { statusCode, headers, body };
}

const referenceUrl = '/docs/reference';
/** Where the public interface is mounted. */
export const apiPrefix = '/api/v1';

const configuration = {
  url: '/openapi.json',
  pageTitle: 'Skein API reference',
  favicon: '/favicon.svg',
  authentication: { preferredSecurityScheme: 'bearer' },
  // No links to other sites.
  telemetry: false,
  withDefaultFonts: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
} as const;

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
