import { generateKeyPairSync, hash } from 'node:crypto';
import type { JWK } from 'jose';
import { orUndefined } from '../../../runtime/src/pure/or-undefined.ts';
import { setBounded } from '../../../runtime/src/pure/set-bounded.ts';
import {
  type AccessClaims,
  type AccessTokens,
  accessTokenScope,
  accessTokenSeconds,
} from '../domain/credential.ts';
import type { ApplicationId, OrganizationId } from '../domain/id.ts';
import type { NewSigningKey, SigningKey, SigningKeys } from '../storage/port/store.ts';

/** Loaded with the first token, because most commands do not need it. */
const jose = () => import('jose');

/** One algorithm, so that no token can choose another (RFC 8725 §3.1). */
const algorithm = 'ES256';
const type = 'at+jwt';
/** A retired key verifies until the last token it signed has expired, plus a minute for clock differences. */
const verifyMs = (accessTokenSeconds + 60) * 1000;
const clockToleranceSeconds = 5;
const tokenLengthMax = 4096;
/** Each entry takes about a kilobyte. */
const rememberedMaxDefault = 10_000;

export interface TokenUrls {
  readonly issuer: () => string;
  readonly audience: () => string;
  /**
   * Whether the operator configured these URLs. If not, each node knows only its own listening URL, so any
   * token that is signed with one of our keys is accepted.
   */
  readonly named: { readonly issuer: boolean; readonly audience: boolean };
}

interface Remembered {
  readonly claims: AccessClaims;
  readonly expiresAt: number;
}

export function createAccessTokens(
  store: SigningKeys,
  urls: TokenUrls,
  now: () => number,
  randomId: () => string,
  rememberedMax = rememberedMaxDefault,
): AccessTokens {
  /** By key id. jose imports the same object once. */
  const jwks = new Map<string, { readonly sign: JWK; readonly verify: JWK }>();
  /** Tokens whose signature was verified. Verifying one takes 0.2 ms, a lookup here a microsecond. */
  const verified = new Map<string, Remembered>();

  function toJwks(key: SigningKey) {
    const known = jwks.get(key.id) ?? { sign: JSON.parse(key.privateJwk) as JWK, verify: toPublicJwk(key) };
    jwks.set(key.id, known);
    return known;
  }

  async function activeKey(): Promise<SigningKey> {
    const active = (await store.listSigningKeys(0)).find(({ retiredAt }) => retiredAt === null);
    return active ?? store.keepSigningKey(newSigningKey());
  }

  async function verify(token: string): Promise<Remembered | undefined> {
    const [header = '', payload = '', signature = ''] = token.split('.');
    // Read the keys again for every new token: a dropped key must not verify it.
    const keys = await store.listSigningKeys(verifyMs);
    const key = keys.find(({ id }) => encodeHeader(id) === header);
    if (key === undefined || !isCanonical(payload) || !isExact(signature)) return undefined;
    try {
      const { jwtVerify } = await jose();
      const { payload: claims } = await jwtVerify(token, toJwks(key).verify, {
        algorithms: [algorithm],
        typ: type,
        ...(urls.named.issuer && { issuer: urls.issuer() }),
        ...(urls.named.audience && { audience: urls.audience() }),
        requiredClaims: ['iss', 'aud', 'sub', 'client_id', 'iat', 'exp', 'jti', 'org_id', 'epoch'],
        maxTokenAge: accessTokenSeconds,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now()),
      });
      return toRemembered(claims);
    } catch {
      // Whatever the error is, this is not one of our tokens.
      return undefined;
    }
  }

  return {
    async issue({ applicationId, organizationId, epoch }) {
      const [key, { SignJWT }] = await Promise.all([activeKey(), jose()]);
      const issuedAt = Math.floor(now() / 1000);
      return new SignJWT({
        iss: urls.issuer(),
        aud: urls.audience(),
        sub: applicationId,
        client_id: applicationId,
        iat: issuedAt,
        exp: issuedAt + accessTokenSeconds,
        jti: randomId(),
        scope: accessTokenScope,
        org_id: organizationId,
        epoch,
      })
        .setProtectedHeader({ alg: algorithm, typ: type, kid: key.id })
        .sign(toJwks(key).sign);
    },

    async read(token) {
      if (token.length > tokenLengthMax) return undefined;
      const known = verified.get(token) ?? (await verify(token));
      if (known === undefined) return undefined;
      // Move to the end: recently used entries stay longest.
      verified.delete(token);
      if (known.expiresAt <= now()) return undefined;
      setBounded(verified, token, known, rememberedMax);
      return known.claims;
    },

    async keySet() {
      await activeKey();
      const keys = await store.listSigningKeys(verifyMs);
      return { keys: keys.map(toPublicJwk) };
    },

    newKey: newSigningKey,
  };
}

/** Without jose, which would take a tenth of the first start. The id is the thumbprint of the key (RFC 7638). */
function newSigningKey(): NewSigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { crv, kty, x, y, d } = privateKey.export({ format: 'jwk' });
  const id = hash('sha256', JSON.stringify({ crv, kty, x, y }), 'base64url');
  return { id, privateJwk: JSON.stringify({ kty, crv, x, y, d }) };
}

function toPublicJwk({ id, privateJwk }: SigningKey) {
  const { kty, crv, x, y } = JSON.parse(privateJwk) as JWK;
  return { kty, crv, x, y, kid: id, alg: algorithm, use: 'sig' } as JWK;
}

/** Our tokens have exactly this header: no `jwk`, no `jku`, no other spelling. */
function encodeHeader(keyId: string): string {
  const header = { alg: algorithm, typ: type, kid: keyId };
  return Buffer.from(JSON.stringify(header)).toString('base64url');
}

/** Accepts only JSON as we write it. This rejects duplicate claims and ambiguous spellings. */
function isCanonical(payload: string): boolean {
  const text = Buffer.from(payload, 'base64url').toString();
  return isExact(payload) && orUndefined(() => JSON.stringify(JSON.parse(text))) === text;
}

/** Base64 allows several spellings of the same bytes; only ours is accepted. */
function isExact(text: string): boolean {
  return text !== '' && Buffer.from(text, 'base64url').toString('base64url') === text;
}

function toRemembered(claims: Record<string, unknown>): Remembered | undefined {
  const { iss, aud, sub, client_id, org_id, epoch, iat, exp, jti } = claims;
  if (![iss, aud, sub, org_id, jti].every((text) => typeof text === 'string')) return undefined;
  if (sub !== client_id || !Number.isSafeInteger(epoch) || !Number.isSafeInteger(iat)) return undefined;
  // Tokens that live longer than an hour would outlive their signing key.
  const expiresAtSeconds = (iat as number) + accessTokenSeconds;
  if (exp !== expiresAtSeconds) return undefined;
  const applicationId = sub as ApplicationId;
  const organizationId = org_id as OrganizationId;
  return {
    claims: { applicationId, organizationId, epoch: epoch as number },
    expiresAt: expiresAtSeconds * 1000,
  };
}
