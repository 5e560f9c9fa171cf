import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isStorable } from '../../../../runtime/src/pure/text.ts';
import { forbidden, type ServiceError } from '../../domain/errors.ts';
import { assertRole, type Sessions, sessionAuthority, signedOut } from '../../usecases/people/sessions.ts';
import { routeNotFound } from '../error-response.ts';
import type { ConsoleOptions, ConsoleRoute } from './route.ts';

export interface CallerCheckNeeds {
  readonly sessions: Pick<Sessions, 'read' | 'enter'>;
  readonly sha256: (text: string) => string;
  /** Compares two hexadecimal hashes in constant time. */
  readonly equalHashes: (one: string, other: string) => boolean;
  readonly baseUrl: () => string;
}

/**
 * `check` runs before anything else of a request is read. It rejects a request that our page did not send (403), one
 * without a session (401) or whose session may not enter the organization in the URL (404), and one of a person who is not
 * an admin where the route needs one (403). `recheck` is for a change whose body has arrived, and for each part of a long
 * response: the session, the membership or the role may have ended in the meantime.
 */
export function callerChecks(needs: CallerCheckNeeds, options: ConsoleOptions, route: ConsoleRoute) {
  const { caller, isBackground } = route;
  const { sessions, sha256 } = needs;

  async function check(request: FastifyRequest): Promise<void> {
    if (request.method !== 'GET') {
      const token = caller === 'anyone' ? undefined : sessionToken(request, options);
      rejectForgery(needs, request, token);
    }
    // Such a read is a link: it cannot send the header that proves where a change comes from.
    if (route.isRecorded && request.headers['sec-fetch-site'] === 'cross-site') throw unproven();
    await recheck(request);
    // No id has such characters, and PostgreSQL rejects them in queries.
    if (!Object.values(request.params as Record<string, string>).every(isStorable)) throw routeNotFound();
  }

  async function recheck(request: FastifyRequest): Promise<void> {
    if (caller === 'anyone') return;
    const token = sessionToken(request, options);
    if (token === undefined) throw signedOut();
    const tokenHash = sha256(token);
    // Requests that the page sends on its own must not keep an unattended session alive.
    const extend = !isBackground && request.headers['x-skein-background'] === undefined;
    if (caller === 'person') {
      request.signedIn = await sessions.read(tokenHash, extend);
      request.personId = request.signedIn.session.userId;
      return;
    }
    const { organizationId } = request.params as { organizationId: string };
    const entered = await sessions.enter(tokenHash, organizationId, extend);
    assertRole(entered, caller);
    const authority = sessionAuthority(entered, entered.principal.organizationId, caller);
    request.signedIn = entered;
    request.personId = entered.session.userId;
    request.principal = { ...entered.principal, authority };
  }

  return { check, recheck };
}

/** A token that only the session's own pages know. Neither it nor the hash in the store can be derived from the other. */
export function deriveCsrfToken(sha256: (text: string) => string, sessionToken: string): string {
  return sha256(`skein csrf ${sessionToken}`);
}

/**
 * Requires that our own page sent the request: it has a header that forms cannot send, with the CSRF token of the session if
 * there is one, and comes from this origin if the browser says where it comes from.
 */
function rejectForgery(
  { sha256, equalHashes, baseUrl }: CallerCheckNeeds,
  { headers }: FastifyRequest,
  sessionToken?: string,
): void {
  const proof = headers['x-skein-csrf'];
  if (typeof proof !== 'string' || proof === '' || !isFromHere(headers, baseUrl())) throw unproven();
  if (sessionToken === undefined) return;
  const wanted = deriveCsrfToken(sha256, sessionToken);
  if (!/^[0-9a-f]{64}$/.test(proof) || !equalHashes(proof, wanted)) throw unproven();
}

function isFromHere(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined || origin === new URL(baseUrl).origin) return true;
  // Behind a proxy the service may not know the public scheme, but it knows the host. Not parsed: browsers spell an origin in
  // one way, and a host of 16 kB takes 10 ms.
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

function unproven(): ServiceError {
  return forbidden('Could not verify the request. Reload the page and try again.');
}

/** Browsers accept a `__Host-` cookie only over HTTPS, and only from this host, not from a sibling domain. */
export function cookieName({ secure }: ConsoleOptions, name: string): string {
  return secure ? `__Host-${name}` : name;
}

/** The value of the first cookie with this name, as it was sent: ours contain no escapes. */
export function cookieOf({ headers }: Pick<FastifyRequest, 'headers'>, name: string): string | undefined {
  const sent = `; ${headers.cookie ?? ''}`;
  const start = `; ${name}=`;
  const index = sent.indexOf(start);
  return index === -1
    ? undefined
    : sent
        .slice(index + start.length)
        .split(';', 1)[0]!
        .trim();
}

export const sessionCookie = 'skein';
/** Not removed when the person signs out. */
export const deviceCookie = 'skein-device';

/** The token of the caller's session. Undefined if it does not have the form of a token. */
export function sessionToken(request: FastifyRequest, options: ConsoleOptions): string | undefined {
  const token = cookieOf(request, cookieName(options, sessionCookie));
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined;
}
