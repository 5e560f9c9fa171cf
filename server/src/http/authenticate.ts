import type { FastifyReply, FastifyRequest } from 'fastify';
import { setBounded } from '../../../runtime/src/pure/set-bounded.ts';
import { counted } from '../../../runtime/src/pure/text.ts';
import { rateLimited } from '../domain/errors.ts';
import type { Admission, Admitted, Credential } from '../usecases/credentials/authenticate.ts';

const parsedKeysMax = 10_000;

/** The first checks of a request: 401, then 404 if the public API is not enabled for the organization, then 429. */
export function admitCaller({ readCredential, admit }: Pick<Admission, 'readCredential' | 'admit'>) {
  // What a key means never changes, so an admitted one is parsed and hashed once. The store decides each time if it is valid.
  const parsedKeys = new Map<string, Credential>();
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const text = bearerCredential(request);
    const known = parsedKeys.get(text ?? '');
    const credential = known ?? (await readCredential(text));
    request.credential = credential;
    const admitted = await admit(credential);
    if (known === undefined && credential.kind === 'key') {
      // A part of a string keeps the whole string in memory, here a header that may be long.
      const copy = Buffer.from(text!, 'latin1').toString('latin1');
      setBounded(parsedKeys, copy, credential, parsedKeysMax);
    }
    applyAdmission(admitted, request, reply);
  };
}

function applyAdmission(admitted: Admitted, request: FastifyRequest, reply: FastifyReply): void {
  const { limit, granted, resetSeconds } = admitted;
  request.principal = admitted.principal;
  request.credentialId = admitted.credentialId;
  const [policy, use] = quotaFields(admitted);
  reply.header('ratelimit-policy', policy).header('ratelimit', use);
  if (!granted) {
    throw rateLimited(`Rate limit exceeded: ${counted(limit, 'request')} per day.`, resetSeconds);
  }
}

/** RateLimit-Policy and RateLimit, of draft-ietf-httpapi-ratelimit-headers. */
function quotaFields({ limit, remaining, resetSeconds }: Admitted): readonly [string, string] {
  return [`"day";q=${limit};w=86400`, `"day";r=${remaining};t=${resetSeconds}`];
}

/** The token of `Authorization: Bearer <token>`; the scheme's case does not matter (RFC 9110 §11.1). */
function bearerCredential({
  headers: { authorization },
}: Pick<FastifyRequest, 'headers'>): string | undefined {
  return authorization && (/^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '');
}
