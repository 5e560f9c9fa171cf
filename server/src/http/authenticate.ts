import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { type Admitted, admit, expectedPrincipal } from '../usecases/credentials/admit.ts';
import { authenticate, readCredential } from '../usecases/credentials/authenticate.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';
import { countHeader } from './headers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `admitCaller`; routes behind it may rely on it. */
    principal: Principal;
    /** For the log: which credential called. */
    credentialId: string | undefined;
    /** Set while a read has begun before its caller was admitted: nothing is answered before `done` has resolved. */
    admission: { readonly expected: Principal; readonly done: Promise<void> } | undefined;
  }
}

/**
 * The first three checks of every request to the public interface: 401, then 404 outside the beta, then 429. A read by a
 * caller that is known begins meanwhile, so that both are one flight to the store; `admission` then decides.
 */
export function admitCaller(context: SurfaceContext) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const credential = await readCredential(context, bearerCredential(request.raw));
    const admission = admit(context, credential).then((admitted) => takeIn(admitted, request, reply));
    const expected = isRead(request) ? expectedPrincipal(context, credential) : undefined;
    if (expected === undefined) return admission;
    request.admission = { expected, done: admission };
    // Whoever answers waits for it; until then nobody may, and that is no fault.
    admission.catch(() => {});
  };
}

function isRead({ method, is404 }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !is404;
}

function takeIn(admitted: Admitted, request: FastifyRequest, reply: FastifyReply): void {
  request.principal = admitted.principal;
  request.credentialId = admitted.credentialId;
  describeQuota(reply, admitted);
  if (!admitted.granted) {
    reply.header('retry-after', admitted.resetSeconds);
    throw new ServiceError('RATE_LIMITED', `The limit of ${admitted.limit} requests a day was exceeded.`);
  }
}

/** Who calls, as of now: 401 for a credential that is none, 404 outside the beta. Counts nothing. */
export async function identify(context: SurfaceContext, request: FastifyRequest): Promise<Principal> {
  const credential = await readCredential(context, bearerCredential(request.raw));
  const { principal } = await authenticate(context, credential);
  return principal;
}

/** The token of `Authorization: Bearer <token>`; the scheme's case does not matter (RFC 9110 §11.1). */
function bearerCredential(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined) return undefined;
  // Of two lines Node keeps the first: which one was meant is not ours to guess.
  if (countHeader(request, 'authorization') > 1) return '';
  return /^bearer +(\S+) *$/i.exec(header)?.[1] ?? '';
}

/** The RateLimit fields of draft-ietf-httpapi-ratelimit-headers. */
function describeQuota(reply: FastifyReply, { limit, remaining, resetSeconds }: Admitted): void {
  reply.header('ratelimit-policy', `"day";q=${limit};w=86400`);
  reply.header('ratelimit', `"day";r=${remaining};t=${resetSeconds}`);
}
