import { randomBytes } from 'node:crypto';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Files that were built are sent by `reply.sendFile`, with the folder that they are in; compressed where that was built, too. */
export async function sendBuiltFiles(app: FastifyInstance): Promise<void> {
  await app.register(fastifyStatic, { serve: false, preCompressed: true, dotfiles: 'ignore' });
}

/** Named after their content: what is behind a name never changes. */
export const namedAfterContent = { maxAge: '365d', immutable: true } as const;

/** What every page and its parts say to browsers, beside their own policy. */
export function protect(reply: FastifyReply, secure: boolean): FastifyReply {
  reply
    .header('referrer-policy', 'same-origin')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()');
  if (secure) reply.header('strict-transport-security', 'max-age=31536000');
  return reply;
}

/** In the place of a page that is not built yet. */
export function sendBuildingPage(reply: FastifyReply, secure: boolean): FastifyReply {
  const nonce = randomBytes(16).toString('base64url');
  return protect(reply, secure)
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
      <p>What is here is being made ready. This page looks again by itself; the log says so if it cannot be.</p>
    </main>
  </body>
</html>
`;
