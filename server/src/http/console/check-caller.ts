import type { FastifyReply, FastifyRequest } from 'fastify';
import { forbidden, type ServiceError } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import { isStorable } from '../../domain/text.ts';
import {
  type EnteredSession,
  enterOrganization,
  readSession,
  type SignedIn,
  signedOut,
} from '../../usecases/people/sessions.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { nothingHere } from '../error-response.ts';
import type { ConsoleOptions, ConsoleRoute } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for every route that needs a session. */
    signedIn: SignedIn | EnteredSession | undefined;
    personId: UserId | undefined;
  }
}

/**
 * The checks before anything else of a request is read: it was sent by our page (403), has a session (401) that may enter
 * the organization in the URL (404), and is an admin's where the route needs one (403).
 */
export function checkCaller(context: SurfaceContext, options: ConsoleOptions, route: ConsoleRoute) {
  return async (request: FastifyRequest, _reply: FastifyReply): Promise<void> => {
    const token = sessionToken(request, options);
    if (request.method !== 'GET')
      proveOwnRequest(context, options, request, route.caller === 'anyone' ? undefined : token);
    await admit(context, request, token, route);
    // No id has such characters, and PostgreSQL rejects them in queries.
    if (!Object.values(request.params as Record<string, string>).every(isStorable)) throw nothingHere();
  };
}

/** For a change, after its body has arrived: the session, the membership or the role may have ended in the meantime. */
export function recheckCaller(context: SurfaceContext, options: ConsoleOptions, route: ConsoleRoute) {
  return (request: FastifyRequest): Promise<void> =>
    admit(context, request, sessionToken(request, options), route);
}

async function admit(
  context: SurfaceContext,
  request: FastifyRequest,
  token: string | undefined,
  { caller, isBackground }: ConsoleRoute,
): Promise<void> {
  if (caller === 'anyone') return;
  if (token === undefined) throw signedOut();
  const tokenHash = context.sha256(token);
  // What the page asks for by itself must not keep an unattended session alive.
  const extend = !isBackground && request.headers['x-skein-background'] === undefined;
  if (caller === 'person') {
    request.signedIn = await readSession(context, tokenHash, extend);
    request.personId = request.signedIn.session.userId;
    return;
  }
  const { organizationId } = request.params as { organizationId: string };
  const entered = await enterOrganization(context, tokenHash, organizationId, extend);
  request.signedIn = entered;
  request.personId = entered.session.userId;
  request.principal = entered.principal;
  if (caller === 'admin' && entered.membership.role !== 'admin') {
    throw forbidden('Only an admin of the organization may do this.');
  }
}

type Hashes = Pick<SurfaceContext, 'sha256' | 'equalHashes'>;

/** A token that only the session's own pages know. Neither it nor the hash in the store can be derived from the other. */
export function csrfTokenOf({ sha256 }: Pick<SurfaceContext, 'sha256'>, sessionToken: string): string {
  return sha256(`skein csrf ${sessionToken}`);
}

/**
 * Checks that our own page sent the request, not another site. The request must have a header that forms cannot send,
 * with the session's CSRF token if there is a session. If the browser says where it came from, it must be this origin.
 */
function proveOwnRequest(
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
  return forbidden('The request did not come from this page: reload it and try again.');
}

type Security = Pick<ConsoleOptions, 'secure'>;

/** Browsers accept a `__Host-` cookie only over HTTPS, and only from this host, not from a sibling domain. */
function cookieName({ secure }: Security, name: string): string {
  return secure() ? `__Host-${name}` : name;
}

function attributes({ secure }: Security) {
  // Lax: a link on another site opens the console signed in, but other sites cannot post to it.
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: secure() } as const;
}

export function readCookie(request: FastifyRequest, security: Security, name: string): string | undefined {
  return request.cookies[cookieName(security, name)];
}

export function setCookie(
  reply: FastifyReply,
  security: Security,
  name: string,
  value: string,
  lifeMs: number,
): void {
  const maxAge = Math.ceil(lifeMs / 1000);
  reply.setCookie(cookieName(security, name), value, { ...attributes(security), maxAge });
}

export function clearCookie(reply: FastifyReply, security: Security, name: string): void {
  reply.clearCookie(cookieName(security, name), attributes(security));
}

export const sessionCookie = 'skein';

/** The token of the caller's session. Undefined if it does not have the form of a token. */
export function sessionToken(request: FastifyRequest, security: Security): string | undefined {
  const token = readCookie(request, security, sessionCookie);
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined;
}
