import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';

const depthMax = limits.bodyDepthMax.default;

/** Bodies are JSON in UTF-8 and nothing else. What JSON.parse would change silently is refused instead. */
export function acceptJsonBodies(app: FastifyInstance): void {
  const parseSafely = app.getDefaultJsonParser('error', 'error');

  app.addHook('onRequest', ({ method, raw }, _reply, done) => {
    // DELETE has no body by contract (§4.5); clients that name a type for it anyway, whatever it is, do no harm.
    if (method === 'DELETE') delete raw.headers['content-type'];
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (request.method === 'DELETE' || body.length === 0) return done(null, undefined);
    if (isEncoded(request)) return done(invalid('Content-Encoding: is not supported.'), undefined);
    if (!isJson(request)) return done(invalid('Content-Type: must be application/json.'), undefined);
    if (!isUtf8(body)) return done(invalidUtf8(body), undefined);
    parseSafely(request, body.toString(), (error, value) => {
      if (error)
        return done(
          invalid('body: is not valid JSON, or has a key that reaches for a prototype.', error),
          undefined,
        );
      if (isDeeperThan(value, depthMax))
        return done(invalid(`body: is nested deeper than ${depthMax} levels.`), undefined);
      done(null, value);
    });
  });
}

function isJson(request: FastifyRequest): boolean {
  return /^application\/json\s*(;\s*(charset\s*=\s*"?utf-8"?\s*)?)*$/i.test(
    request.headers['content-type'] ?? '',
  );
}

function isEncoded({ headers }: FastifyRequest): boolean {
  return (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
}

function invalid(message: string, cause?: unknown): ServiceError {
  return new ServiceError('INVALID_PARAMS', message, { cause });
}

/** Names the fields that decoding would have changed. */
function invalidUtf8(body: Buffer): ServiceError {
  const fields = damagedFields(body);
  return invalid(`${fields.length > 0 ? fields.join(', ') : 'body'}: is not valid UTF-8.`);
}

function damagedFields(body: Buffer): string[] {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value)
      .filter(([, text]) => typeof text === 'string' && text.includes('\uFFFD'))
      .map(([name]) => name);
  } catch {
    return [];
  }
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  for (const inner of Object.values(value)) if (isDeeperThan(inner, depth - 1)) return true;
  return false;
}
