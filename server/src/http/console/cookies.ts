import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleOptions } from './route.ts';

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
