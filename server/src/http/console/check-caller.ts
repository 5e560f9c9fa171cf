import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import { isKeepable } from '../../domain/text.ts';
import {
  type EnteredSession,
  enterOrganization,
  readSession,
  type SignedIn,
  signedOut,
} from '../../usecases/people/sessions.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { sessionToken } from './cookies.ts';
import { proveOwnRequest } from './csrf.ts';
import type { ConsoleOptions } from './options.ts';
import type { Caller } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for every route that needs a session. */
    signedIn: SignedIn | EnteredSession | undefined;
    /** The person who called, for the log. */
    personId: UserId | undefined;
  }
}

/**
 * The checks before anything else of a request is read: it was sent by our page (403), has a session (401) that may enter
 * the organization in the URL (404), and is an admin's where the route needs one (403).
 */
export function checkCaller(context: SurfaceContext, options: ConsoleOptions, caller: Caller) {
  return async (request: FastifyRequest, _reply: FastifyReply): Promise<void> => {
    const token = sessionToken(request, options);
    if (request.method !== 'GET')
      proveOwnRequest(context, options, request, caller === 'anyone' ? undefined : token);
    if (caller !== 'anyone') await admit(context, request, token, caller);
    // No id has such characters, and PostgreSQL rejects them in queries.
    if (!Object.values(request.params as Record<string, string>).every(isKeepable)) {
      throw new ServiceError('NOT_FOUND', 'There is nothing at this address.');
    }
  };
}

/** For a change, after its body has arrived: the session, the membership or the role may have ended in the meantime. */
export function recheckCaller(
  context: SurfaceContext,
  options: ConsoleOptions,
  caller: Exclude<Caller, 'anyone'>,
) {
  return (request: FastifyRequest): Promise<void> =>
    admit(context, request, sessionToken(request, options), caller);
}

async function admit(
  context: SurfaceContext,
  request: FastifyRequest,
  token: string | undefined,
  caller: Exclude<Caller, 'anyone'>,
): Promise<void> {
  if (token === undefined) throw signedOut();
  const tokenHash = context.sha256(token);
  if (caller === 'person') {
    request.signedIn = await readSession(context, tokenHash);
    request.personId = request.signedIn.session.userId;
    return;
  }
  const { organizationId } = request.params as { organizationId: string };
  const entered = await enterOrganization(context, tokenHash, organizationId);
  request.signedIn = entered;
  request.personId = entered.session.userId;
  request.principal = entered.principal;
  if (caller === 'admin' && entered.membership.role !== 'admin') {
    throw new ServiceError('FORBIDDEN', 'Only an admin of the organization may do this.');
  }
}
