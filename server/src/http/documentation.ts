import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import { cachedForever, sendBuildingPage, setSecurityHeaders } from './static-files.ts';

export interface DocumentationOptions {
  /** The folder of the built documentation, which may not exist yet. */
  readonly siteFolder: string;
  /** Whether browsers use HTTPS. */
  readonly secure: () => boolean;
}

/** The documentation at `/docs`. Register `sendBuiltFiles` first. */
export async function serveDocumentation(
  app: FastifyInstance,
  { siteFolder, secure }: DocumentationOptions,
): Promise<void> {
  await app.register(
    async (docs) => {
      const sendPage = (reply: FastifyReply, file: string): FastifyReply => {
        const policy = readPolicy(siteFolder);
        if (policy === undefined) return sendBuildingPage(reply, secure());
        return setSecurityHeaders(reply, secure())
          .header('cache-control', 'no-cache')
          .header('content-security-policy', policy)
          .sendFile(file, siteFolder, { cacheControl: false });
      };
      docs.setNotFoundHandler(({ headers }, reply) => {
        if (!headers.accept?.includes('text/html'))
          throw new ServiceError('NOT_FOUND', 'There is nothing at this address.');
        sendPage(reply.code(404), '404.html');
      });
      docs.get('', (_request, reply) => reply.redirect('/docs/', 308));
      docs.get<{ Params: { '*': string } }>('/*', (request, reply) => {
        const path = request.params['*'];
        if (path === '' || path.endsWith('/')) return sendPage(reply, `${path}index.html`);
        if (path.startsWith('_astro/')) {
          return setSecurityHeaders(reply, secure()).sendFile(path, siteFolder, cachedForever);
        }
        // Page URLs end with a slash because links in pages are relative to it.
        if (isPage(siteFolder, path)) return reply.redirect(`/docs/${encodeURI(path)}/`, 308);
        return sendPage(reply, path);
      });
    },
    { prefix: '/docs' },
  );
}

function isPage(siteFolder: string, path: string): boolean {
  return /^[\w/-]+$/.test(path) && existsSync(join(siteFolder, path, 'index.html'));
}

/** Built with the pages: it contains the hashes of their scripts. Read for each request because the pages may be rebuilt. */
function readPolicy(siteFolder: string): string | undefined {
  try {
    return readFileSync(join(siteFolder, '.policy'), 'utf8');
  } catch {
    return undefined;
  }
}
