import type { SendOptions } from '@fastify/send';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The endings of the variants that the builds write beside each file, the preferred one first. */
const variants = { br: '.br', gzip: '.gz' } as const;

/** The names that builds write. A path that leaves the folder, or names a hidden file, does not match. */
const fileName = /^[\w@~-][\w@~.-]*(\/[\w@~-][\w@~.-]*)*$/;

/**
 * Sends a file of `folder`, compressed if the client accepts a variant that was built. A status that the reply already
 * has is kept.
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  folder: string,
  file: string,
  options: SendOptions,
): Promise<FastifyReply> {
  if (!fileName.test(file)) return callNotFound(reply);
  // Loaded with the first file, so that it does not delay the start.
  const { default: send } = await import('@fastify/send');
  for (const encoding of [...acceptedEncodings(request), undefined]) {
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
  return callNotFound(reply);
}

function callNotFound(reply: FastifyReply): FastifyReply {
  reply.callNotFound();
  return reply;
}

function acceptedEncodings({ headers }: FastifyRequest): (keyof typeof variants)[] {
  const accepted = String(headers['accept-encoding'] ?? '').toLowerCase();
  const names = new Set(
    accepted
      .split(',')
      .map((one) => one.split(';').map((part) => part.trim()))
      .filter(([, quality = '']) => !/^q=0(\.0*)?$/.test(quality))
      .map(([name]) => name),
  );
  return (['br', 'gzip'] as const).filter((name) => names.has(name));
}
