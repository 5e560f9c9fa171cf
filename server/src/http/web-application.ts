import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import { namedAfterContent, protect, sendBuildingPage } from './static-files.ts';

export interface WebApplicationOptions {
  /** Where the built application is, or will be. */
  readonly webFolder: string;
  /** Whether people reach the service by HTTPS. */
  readonly secure: () => boolean;
}

/** What is not the web application's: machines call there, and want to know when there is nothing. */
const reserved =
  /^\/(\/|(api|console|oauth2|\.well-known|docs|assets|openapi\.json|healthz|readyz|metrics)(\/|$))/i;
/** What the service itself gives out as an address for people. */
const givenOut = /^\/(threads\/[^/]+|invitation|sign-in)?$/;
/** Beside the page, and not named after what is in them. */
const publicFiles = ['/favicon.svg'];

/** Whether an address that no route has is one of the web application, which finds its own way from there. */
export function isPage({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const path = url.split('?', 1)[0] as string;
  if (reserved.test(path)) return false;
  const accept = headers.accept ?? '*/*';
  return accept.includes('text/html') || (givenOut.test(path) && accept.includes('*/*'));
}

/** The web application at `/`, behind `sendBuiltFiles`: its files as they were built, and its page with a policy that lets nothing else in. */
export async function serveWebApplication(
  app: FastifyInstance,
  { webFolder, secure }: WebApplicationOptions,
): Promise<void> {
  const hidden = { schema: { hide: true } };
  app.get<{ Params: { '*': string } }>('/assets/*', hidden, (request, reply) => {
    protect(reply, secure());
    return reply.sendFile(`assets/${request.params['*']}`, webFolder, namedAfterContent);
  });
  for (const file of publicFiles) {
    app.get(file, hidden, (_request, reply) => {
      protect(reply, secure());
      return reply.sendFile(file.slice(1), webFolder, { maxAge: '1d' });
    });
  }
  app.setNotFoundHandler(async (request, reply) => {
    if (!isPage(request)) throw new ServiceError('NOT_FOUND', 'There is nothing at this address.');
    return sendPage(reply, webFolder, secure());
  });
}

async function sendPage(reply: FastifyReply, webFolder: string, secure: boolean): Promise<FastifyReply> {
  const page = await readFile(join(webFolder, 'index.html'), 'utf8').catch(() => undefined);
  if (page === undefined) return sendBuildingPage(reply, secure);
  const nonce = randomBytes(16).toString('base64url');
  return protect(reply, secure)
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('vary', 'accept')
    .header('content-security-policy', policyWith(nonce))
    .send(page.replaceAll('SKEIN_NONCE', nonce));
}

/** Nothing comes from elsewhere or goes there, and nothing runs that did not come with the page. */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
