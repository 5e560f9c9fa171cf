import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { authenticate } from '../usecases/authenticate.ts';
import { consumeQuota, type MeteredUse } from '../usecases/consume-quota.ts';
import type { Context } from '../usecases/context.ts';
import { countHeader } from './headers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `admit`; routes behind it may rely on it. */
    principal: Principal;
    /** For the log: which credential called. */
    credentialId: string | undefined;
  }
}

/** The first three checks of every request to the public interface: 401, then 404 outside the beta, then 429. */
export function admit(context: Context) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const principal = await identify(context, request);
    const use = await consumeQuota(context, principal.organizationId);
    describeQuota(reply, use);
    if (!use.granted) {
      reply.header('retry-after', use.resetSeconds);
      throw new ServiceError('RATE_LIMITED', `The limit of ${use.limit} requests a day was exceeded.`);
    }
  };
}

/** Who calls, as of now: 401 for a credential that is none, 404 outside the beta. */
export async function identify(context: Context, request: FastifyRequest): Promise<Principal> {
  const { principal, credentialId } = await authenticate(context, bearerCredential(request.raw));
  request.principal = principal;
  request.credentialId = credentialId;
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
function describeQuota(reply: FastifyReply, { limit, remaining, resetSeconds }: MeteredUse): void {
  reply.header('ratelimit-policy', `"day";q=${limit};w=86400`);
  reply.header('ratelimit', `"day";r=${remaining};t=${resetSeconds}`);
}
