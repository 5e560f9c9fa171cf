import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { accessTokenScope } from '../domain/access-token.ts';

const description = `Create a thread with a prompt; its reply is generated in the background. Read the thread until \`status.state\`
is \`idle\` or \`error\`. Every failure has the body \`{"error": {"code", "message", "trace_id"}}\` with one of six codes.`;

/** Allows the page's own script, by its hash, and inline styles; nothing from other origins. */
function contentSecurityPolicy(page: string): string {
  const scripts = [...page.matchAll(/<script[^>]*>([^<]+)<\/script>/g)].map(([, script]) => script as string);
  const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return `default-src 'self'; script-src 'self' ${hashes.join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/** Collects the routes registered after it into the OpenAPI document. */
export async function collectRoutes(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Skein', version: '1', description, license: { name: 'MIT', identifier: 'MIT' } },
      externalDocs: { description: 'Guides and concepts', url: '/docs/' },
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
}

/** `/openapi.json`, and the reference page at `/docs/reference`, whose script is served from here too. */
export async function publishReference(app: FastifyInstance): Promise<void> {
  let document: string | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    document ??= openApiDocument(app);
    return reply.header('content-type', 'application/json; charset=utf-8').send(document);
  });
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  await app.register(async (reference) => {
    reference.addHook('onSend', async (_request, reply, page) => {
      if (typeof page === 'string') reply.header('content-security-policy', contentSecurityPolicy(page));
    });
    await reference.register(scalar, { routePrefix: '/docs/reference', configuration });
  });
}

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

/** The document as it is served and committed, byte for byte. */
export function openApiDocument(app: FastifyInstance): string {
  return `${JSON.stringify(app.swagger(), null, 2)}\n`;
}
