import { randomBytes } from 'node:crypto';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Adds `reply.sendFile` for built files. It sends a compressed variant where one was built. */
export async function sendBuiltFiles(app: FastifyInstance): Promise<void> {
  await app.register(fastifyStatic, { serve: false, preCompressed: true, dotfiles: 'ignore' });
}

/** For files with a hash of their content in the name: they never change. */
export const cachedForever = { maxAge: '365d', immutable: true } as const;

/** The security headers of every page and asset, in addition to the page's own policy. */
export function setSecurityHeaders(reply: FastifyReply, secure: boolean): FastifyReply {
  reply
    .header('referrer-policy', 'same-origin')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()');
  if (secure) reply.header('strict-transport-security', 'max-age=31536000');
  return reply;
}

/** Sent instead of a page that is not built yet. */
export function sendBuildingPage(reply: FastifyReply, secure: boolean): FastifyReply {
  const nonce = randomBytes(16).toString('base64url');
  return setSecurityHeaders(reply, secure)
    .code(503)
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('vary', 'accept')
    .header('retry-after', 2)
    .header(
      'content-security-policy',
      `default-src 'none'; style-src 'nonce-${nonce}'; frame-ancestors 'none'`,
    )
    .send(notBuiltYet.replaceAll('SKEIN_NONCE', nonce));
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
      <p>Building this page. It reloads when it is done. If it does not, check the log of the service.</p>
    </main>
  </body>
</html>
`;
