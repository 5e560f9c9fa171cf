import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';

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

/** The web application at `/`: its files as they were built, and its page with a policy that lets nothing else in. */
export async function serveWebApplication(
  app: FastifyInstance,
  { webFolder, secure }: WebApplicationOptions,
): Promise<void> {
  await app.register(fastifyStatic, {
    root: webFolder,
    serve: false,
    preCompressed: true,
    // It may not be built yet.
    suppressWarning: true,
  });
  const hidden = { schema: { hide: true } };
  app.get<{ Params: { '*': string } }>('/assets/*', hidden, (request, reply) => {
    protect(reply, secure());
    // Named after their content: what is behind a name never changes.
    return reply.sendFile(`assets/${request.params['*']}`, { maxAge: '365d', immutable: true });
  });
  for (const file of publicFiles) {
    app.get(file, hidden, (_request, reply) => {
      protect(reply, secure());
      return reply.sendFile(file.slice(1), { maxAge: '1d' });
    });
  }
  app.setNotFoundHandler(async (request, reply) => {
    if (!isPage(request)) throw new ServiceError('NOT_FOUND', 'There is nothing at this address.');
    return sendPage(reply, webFolder, secure());
  });
}

async function sendPage(reply: FastifyReply, webFolder: string, secure: boolean): Promise<FastifyReply> {
  const nonce = randomBytes(16).toString('base64url');
  const page = await readFile(join(webFolder, 'index.html'), 'utf8').catch(() => undefined);
  protect(reply, secure);
  reply
    .code(page === undefined ? 503 : 200)
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('vary', 'accept')
    .header('content-security-policy', policyWith(nonce));
  if (page === undefined) reply.header('retry-after', 2);
  return reply.send((page ?? notBuiltYet).replaceAll('SKEIN_NONCE', nonce));
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

function protect(reply: FastifyReply, secure: boolean): void {
  reply
    .header('referrer-policy', 'same-origin')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()');
  if (secure) reply.header('strict-transport-security', 'max-age=31536000');
}

const notBuiltYet = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta http-equiv="refresh" content="2" />
    <title>Skein</title>
    <style nonce="SKEIN_NONCE">
      :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
      main { max-width: 32rem; margin: 20vh auto; padding: 0 1rem; }
    </style>
  </head>
  <body>
    <main>
      <h1>Just a moment</h1>
      <p>The web application is being made ready. This page looks again by itself; the log says so if it cannot be.</p>
    </main>
  </body>
</html>
`;
