import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SendOptions } from '@fastify/send';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { routeNotFound } from '../error-response.ts';

export interface PageOptions {
  /** The folders of the built web application and documentation, which may not exist yet. */
  readonly webFolder: string;
  readonly siteFolder: string;
  /** Whether browsers use HTTPS. */
  readonly secure: boolean;
}

/** Paths that do not belong to the web application. Programs call them and need a 404 for unknown ones. */
const reserved =
  /^\/(\/|(api|console|oauth2|\.well-known|docs|assets|openapi\.json|healthz|readyz|metrics)(\/|$))/i;
/** Pages that the service itself links to. */
const linkedPages = /^\/(threads\/[^/]+|invitation|sign-in)?$/;
/** For files with a hash of their content in the name: they never change. */
const cachedForever = { maxAge: '365d', immutable: true } as const;

/** The web application at `/` and the documentation at `/docs`, as they were built. */
export async function servePages(app: FastifyInstance, options: PageOptions): Promise<void> {
  await app.register(async (pages) => {
    pages.addHook('preHandler', async (_request, reply) => {
      reply.headers(securityHeaders);
      if (options.secure) reply.header('strict-transport-security', 'max-age=31536000');
    });
    serveWebApplication(pages, options.webFolder);
    await pages.register((docs) => serveDocumentation(docs, options.siteFolder), { prefix: '/docs' });
  });
}

/** Sent with every page and asset, in addition to the page's own policy. */
const securityHeaders = {
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** Whether a path without a route belongs to the web application, which does its own routing. */
export function isPage({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const path = url.split('?', 1)[0] as string;
  if (reserved.test(path)) return false;
  const accept = headers.accept ?? '*/*';
  return accept.includes('text/html') || (linkedPages.test(path) && accept.includes('*/*'));
}

function serveWebApplication(app: FastifyInstance, webFolder: string): void {
  app.get<{ Params: { '*': string } }>('/assets/*', (request, reply) =>
    sendFile(reply, join(webFolder, 'assets'), request.params['*'], cachedForever),
  );
  app.get('/favicon.svg', (_request, reply) => sendFile(reply, webFolder, 'favicon.svg', { maxAge: '1d' }));
  app.setNotFoundHandler(async (request, reply) => {
    if (!isPage(request)) throw routeNotFound();
    const page = await readFile(join(webFolder, 'index.html'), 'utf8').catch(() => undefined);
    return page === undefined ? sendBuildingPage(reply) : sendPage(reply, page, webPolicy);
  });
}

async function serveDocumentation(docs: FastifyInstance, siteFolder: string): Promise<void> {
  const sendPart = async (reply: FastifyReply, file: string) => {
    // Built with the pages: it contains the hashes of their scripts. Read each time because the pages may be rebuilt.
    const policy = await readFile(join(siteFolder, '.policy'), 'utf8').catch(() => undefined);
    if (policy === undefined) return sendBuildingPage(reply);
    reply.header('cache-control', 'no-cache').header('content-security-policy', policy);
    return sendFile(reply, siteFolder, file, { cacheControl: false });
  };
  docs.setNotFoundHandler(async (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) throw routeNotFound();
    return sendPart(reply.code(404), '404.html');
  });
  docs.get('', (_request, reply) => reply.redirect('/docs/', 308));
  docs.get<{ Params: { '*': string } }>('/*', (request, reply) => {
    const path = request.params['*'];
    if (path === '' || path.endsWith('/')) return sendPart(reply, `${path}index.html`);
    if (path.startsWith('_astro/')) return sendFile(reply, siteFolder, path, cachedForever);
    // Page URLs end with a slash because links in pages are relative to it.
    const isFolder = /^[\w/-]+$/.test(path) && existsSync(join(siteFolder, path, 'index.html'));
    return isFolder ? reply.redirect(`/docs/${encodeURI(path)}/`, 308) : sendPart(reply, path);
  });
}

function sendPage(reply: FastifyReply, page: string, policyWith: (nonce: string) => string): FastifyReply {
  const nonce = randomBytes(16).toString('base64url');
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('vary', 'accept')
    .header('content-security-policy', policyWith(nonce))
    .send(page.replaceAll('SKEIN_NONCE', nonce));
}

/** Blocks other origins, and scripts and styles that are not part of the page. */
const webPolicy = (nonce: string) =>
  `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
  "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

function sendBuildingPage(reply: FastifyReply): FastifyReply {
  const policy = (nonce: string) => `default-src 'none'; style-src 'nonce-${nonce}'; frame-ancestors 'none'`;
  return sendPage(reply.code(503).header('retry-after', 2), notBuiltYet, policy);
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
      <p>Building this page. It will reload when it is ready. If it does not, check the service's log.</p>
    </main>
  </body>
</html>
`;

/** The endings of the variants that the builds write beside each file, the preferred one first. */
const variants = { br: '.br', gzip: '.gz' } as const;

/** The names that builds write. A path that leaves the folder, or names a hidden file, does not match. */
const fileName = /^[\w@~-][\w@~.-]*(\/[\w@~-][\w@~.-]*)*$/;

/** Sends a file, compressed if the client accepts a variant that was built. A status that the reply already has is kept. */
async function sendFile(reply: FastifyReply, folder: string, file: string, options: SendOptions) {
  const { request } = reply;
  // Loaded with the first file, so that it does not delay the start.
  const { default: send } = await import('@fastify/send');
  for (const encoding of fileName.test(file) ? [...acceptedEncodings(request), undefined] : []) {
    const path = encodeURI(encoding === undefined ? file : `${file}${variants[encoding]}`);
    const found = await send(request.raw, path, {
      ...options,
      root: folder,
      index: false,
      dotfiles: 'ignore',
    });
    // A precondition or a range can fail, which is not the same as a missing file.
    if (found.type === 'error' && found.statusCode !== 404) throw found.metadata.error;
    if (found.type !== 'file') continue;
    if (reply.statusCode === 200) reply.code(found.statusCode);
    reply.headers(found.headers).header('vary', 'accept-encoding');
    if (encoding !== undefined) {
      const type = send.mime.getType(file) ?? 'application/octet-stream';
      reply.header('content-type', send.isUtf8MimeType(type) ? `${type}; charset=utf-8` : type);
      reply.header('content-encoding', encoding);
    }
    return reply.send(found.stream);
  }
  reply.callNotFound();
  return reply;
}

function acceptedEncodings({ headers }: FastifyRequest): (keyof typeof variants)[] {
  const accepted = String(headers['accept-encoding'] ?? '').toLowerCase();
  const items = accepted.split(',').map((one) => one.split(';').map((part) => part.trim()));
  const isAccepted = (encoding: string) =>
    items.some(([name, quality = '']) => name === encoding && !/^q=0(\.0*)?$/.test(quality));
  return (['br', 'gzip'] as const).filter(isAccepted);
}
