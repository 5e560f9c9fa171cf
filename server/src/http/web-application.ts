import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import { cachedForever, sendBuildingPage, setSecurityHeaders } from './static-files.ts';

export interface WebApplicationOptions {
  /** The folder of the built application, which may not exist yet. */
  readonly webFolder: string;
  /** Whether browsers use HTTPS. */
  readonly secure: () => boolean;
}

/** Paths that do not belong to the web application. Programs call them and need a 404 for unknown ones. */
const reserved =
  /^\/(\/|(api|console|oauth2|\.well-known|docs|assets|openapi\.json|healthz|readyz|metrics)(\/|$))/i;
/** Pages that the service itself links to. */
const linkedPages = /^\/(threads\/[^/]+|invitation|sign-in)?$/;
/** Files next to the page without a hash in their name. */
const publicFiles = ['/favicon.svg'];

/** Whether a path without a route belongs to the web application, which does its own routing. */
export function isPage({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const path = url.split('?', 1)[0] as string;
  if (reserved.test(path)) return false;
  const accept = headers.accept ?? '*/*';
  return accept.includes('text/html') || (linkedPages.test(path) && accept.includes('*/*'));
}

/** The web application at `/`: its built files, and its page with a strict content security policy. Register `sendBuiltFiles` first. */
export async function serveWebApplication(
  app: FastifyInstance,
  { webFolder, secure }: WebApplicationOptions,
): Promise<void> {
  app.get<{ Params: { '*': string } }>('/assets/*', (request, reply) => {
    setSecurityHeaders(reply, secure());
    return reply.sendFile(`assets/${request.params['*']}`, webFolder, cachedForever);
  });
  for (const file of publicFiles) {
    app.get(file, (_request, reply) => {
      setSecurityHeaders(reply, secure());
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
  return setSecurityHeaders(reply, secure)
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('vary', 'accept')
    .header('content-security-policy', policyWith(nonce))
    .send(page.replaceAll('SKEIN_NONCE', nonce));
}

/** Blocks other origins, and scripts and styles that are not part of the page. */
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
