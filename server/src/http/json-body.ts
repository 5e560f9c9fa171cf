import { isUtf8 } from 'node:buffer';
import { MIMEType } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import { jsonFault } from './json-limits.ts';

/** Accepts only JSON in UTF-8. Rejects bodies that JSON.parse would change silently. */
export function acceptJsonBodies(app: FastifyInstance): void {
  const parseSafely = app.getDefaultJsonParser('error', 'error');

  app.addHook('onRequest', ({ method, raw }, _reply, done) => {
    // DELETE has no body (§4.5). A Content-Type without a body is accepted.
    if (method === 'DELETE') delete raw.headers['content-type'];
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (request.method === 'DELETE' || body.length === 0) return done(null, undefined);
    if (isEncoded(request)) return done(invalid('Content-Encoding: is not supported.'), undefined);
    if (!isJson(request.headers['content-type'])) {
      return done(invalid('Content-Type: must be application/json, in UTF-8.'), undefined);
    }
    if (!isUtf8(body)) return done(invalidUtf8(body), undefined);
    const text = body.toString();
    const fault = jsonFault(text);
    if (fault !== undefined) return done(invalid(`${fault}.`), undefined);
    void parseSafely(request, text, (error, value) => {
      if (error)
        return done(
          invalid('body: is not valid JSON, or has a key that reaches for a prototype.', error),
          undefined,
        );
      done(null, value);
    });
  });
}

/** Parameters are ignored, except for a charset that is not UTF-8. */
function isJson(contentType = ''): boolean {
  if (contentType === 'application/json') return true;
  try {
    const { essence, params } = new MIMEType(contentType);
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8');
  } catch {
    return false;
  }
}

function isEncoded({ headers }: FastifyRequest): boolean {
  return (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
}

function invalid(message: string, cause?: unknown): ServiceError {
  return new ServiceError('INVALID_PARAMS', message, { cause });
}

/** The fields that decoding would change. */
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
