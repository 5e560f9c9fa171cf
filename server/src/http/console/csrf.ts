import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import type { ConsoleOptions } from './options.ts';

type Hashes = Pick<SurfaceContext, 'sha256' | 'equalHashes'>;

/** A token that only the session's own pages know. It cannot be derived from the hash in the store, or the reverse. */
export function csrfTokenOf({ sha256 }: Pick<SurfaceContext, 'sha256'>, sessionToken: string): string {
  return sha256(`skein csrf ${sessionToken}`);
}

/**
 * Checks that our own page sent the request, not another site. The request must have a header that forms cannot send,
 * with the session's CSRF token if there is a session. If the browser says where it came from, it must be this origin.
 */
export function proveOwnRequest(
  hashes: Hashes,
  options: Pick<ConsoleOptions, 'baseUrl'>,
  request: FastifyRequest,
  sessionToken: string | undefined,
): void {
  const proof = request.headers['x-skein-csrf'];
  if (typeof proof !== 'string' || proof === '') throw unproven();
  if (!isFromHere(request, options)) throw unproven();
  if (sessionToken === undefined) return;
  const wanted = csrfTokenOf(hashes, sessionToken);
  if (!/^[0-9a-f]{64}$/.test(proof) || !hashes.equalHashes(proof, wanted)) throw unproven();
}

function isFromHere({ headers }: FastifyRequest, { baseUrl }: Pick<ConsoleOptions, 'baseUrl'>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  // Behind a proxy the service may not know the public scheme, but it knows the host.
  return origin === new URL(baseUrl()).origin || new URL(origin).host === headers.host;
}

function unproven(): ServiceError {
  return new ServiceError('FORBIDDEN', 'The request did not come from this page: reload it and try again.');
}
