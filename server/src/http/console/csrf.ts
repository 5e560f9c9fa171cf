import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import type { ConsoleOptions } from './options.ts';

type Hashes = Pick<SurfaceContext, 'sha256' | 'equalHashes'>;

/** What only the session's own pages know. Not what the store keeps of the token: neither leads to the other. */
export function csrfTokenOf({ sha256 }: Pick<SurfaceContext, 'sha256'>, sessionToken: string): string {
  return sha256(`skein csrf ${sessionToken}`);
}

/**
 * That a page of ours sent the request, and no other site made the browser send it: a header that forms cannot bear, with
 * the session's own token where there is a session, and where the browser says whence it came, that it came from here.
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
  // Behind a proxy the service may not know by which scheme it is reached; its host it does.
  return origin === new URL(baseUrl()).origin || new URL(origin).host === headers.host;
}

function unproven(): ServiceError {
  return new ServiceError('FORBIDDEN', 'The request did not come from this page: reload it and try again.');
}
