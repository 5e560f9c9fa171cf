import { createHmac, generateKeyPairSync, type KeyObject, type SignKeyObjectInput, sign } from 'node:crypto';
import type { ForgersKit } from './forgers-kit.ts';
import { encoded, headerFor, mint } from './token-forge.ts';

/** Tokens that choose how, or with which key, they are verified (RFC 8725 §2.1, §2.2, §3.1, §3.5, §3.10, §3.11). */
export function forgedHeaders(kit: ForgersKit): Record<string, string> {
  return {
    ...unsigned(kit),
    ...byPublicKey(kit),
    ...byForeignKeys(kit),
    ...otherKeyIds(kit),
    ...otherHeaders(kit),
  };
}

function unsigned({ good, own, claims }: ForgersKit): Record<string, string> {
  const [, payload, signature] = good.split('.');
  return named(['none', 'None', 'NONE', 'nOnE', ''], (alg) => {
    const header = { ...headerFor(own), alg };
    return {
      [`alg '${alg}' without a signature`]: `${encoded(header)}.${encoded(claims())}.`,
      [`alg '${alg}' with a signature of another token`]: `${encoded(header)}.${payload}.${signature}`,
      [`alg '${alg}', signed by the own key`]: mint(header, claims(), own.privateKey),
    };
  });
}

/** A verifier that uses the public key as a shared secret would accept these. */
function byPublicKey({ own, claims }: ForgersKit): Record<string, string> {
  const jwk = own.publicJwk;
  const secrets: Record<string, string | Buffer> = {
    'the public key in PEM': own.publicKey.export({ type: 'spki', format: 'pem' }),
    'the public key in DER': own.publicKey.export({ type: 'spki', format: 'der' }),
    'the public key as JWK': JSON.stringify(jwk),
    'the published JWK': JSON.stringify({ ...jwk, kid: own.kid, alg: 'ES256', use: 'sig' }),
    "the point's first half": Buffer.from(jwk.x as string, 'base64url'),
    'the key id': own.kid,
    nothing: '',
  };
  const bits = ['256', '384', '512'];
  return named(Object.entries(secrets), ([what, secret]) =>
    named(bits, (length) => {
      const input = `${encoded({ ...headerFor(own), alg: `HS${length}` })}.${encoded(claims())}`;
      const signature = createHmac(`sha${length}`, secret).update(input).digest('base64url');
      return { [`HS${length} with ${what} as the secret`]: `${input}.${signature}` };
    }),
  );
}

function byForeignKeys(kit: ForgersKit): Record<string, string> {
  const { own, foreign, claims, attackersUrl } = kit;
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const ed25519 = generateKeyPairSync('ed25519').privateKey;
  const header = headerFor(own);
  const foreignHeader = headerFor(foreign);
  return {
    'RS256 with a foreign key': signedAs('RS256', kit, 'sha256', rsa),
    'ES384 with a foreign key': signedAs('ES384', kit, 'sha384', { key: p384, dsaEncoding: 'ieee-p1363' }),
    'EdDSA with a foreign key': signedAs('EdDSA', kit, null, ed25519),
    'ES256 with a foreign key under our kid': mint(header, claims(), foreign.privateKey),
    'ES256 with a foreign key under its own kid': mint(foreignHeader, claims(), foreign.privateKey),
    'an embedded foreign key': mint({ ...header, jwk: foreign.publicJwk }, claims(), foreign.privateKey),
    'an embedded foreign key with its own kid': mint(
      { ...foreignHeader, jwk: foreign.publicJwk },
      claims(),
      foreign.privateKey,
    ),
    'a key set elsewhere': mint(
      { ...foreignHeader, jku: `${attackersUrl}/jwks.json` },
      claims(),
      foreign.privateKey,
    ),
    'a key set elsewhere, under our kid': mint(
      { ...header, jku: `${attackersUrl}/jwks.json` },
      claims(),
      foreign.privateKey,
    ),
    'a certificate elsewhere': mint(
      { ...header, x5u: `${attackersUrl}/chain.pem` },
      claims(),
      foreign.privateKey,
    ),
    'an embedded certificate': mint(
      { ...header, x5c: [foreign.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')] },
      claims(),
      foreign.privateKey,
    ),
  };
}

function signedAs(
  alg: string,
  { own, claims }: ForgersKit,
  digest: string | null,
  key: KeyObject | SignKeyObjectInput,
): string {
  const input = `${encoded({ ...headerFor(own), alg })}.${encoded(claims())}`;
  return `${input}.${encoded(sign(digest, Buffer.from(input), key))}`;
}

function otherKeyIds({ own, claims }: ForgersKit): Record<string, string> {
  const { kid: _kid, ...without } = headerFor(own);
  const kids = [
    '',
    'unknown',
    '../../../../../../dev/null',
    '/dev/null',
    'file:///dev/null',
    `${own.kid}' OR '1'='1`,
    `' UNION SELECT '${own.kid}', '{}', NULL --`,
    '%',
    `${own.kid}\0`,
    ` ${own.kid}`,
    own.kid.toLowerCase(),
    own.kid.slice(0, -1),
    '__proto__',
    null,
    0,
    [own.kid],
    { id: own.kid },
  ];
  return {
    'no kid': mint(without, claims(), own.privateKey),
    ...named(kids, (kid) => ({
      [`kid ${JSON.stringify(kid)}`]: mint({ ...without, kid }, claims(), own.privateKey),
    })),
  };
}

/** Tokens signed with the service's own key. Only the header is not what the service writes. */
function otherHeaders({ own, claims, attackersUrl }: ForgersKit): Record<string, string> {
  const header = headerFor(own);
  const { typ: _typ, ...untyped } = header;
  const { alg: _alg, ...withoutAlgorithm } = header;
  const text = JSON.stringify(header);
  const headers: Record<string, unknown> = {
    'typ JWT': { ...header, typ: 'JWT' },
    'typ at+JWT': { ...header, typ: 'at+JWT' },
    'typ AT+JWT': { ...header, typ: 'AT+JWT' },
    'typ application/at+jwt': { ...header, typ: 'application/at+jwt' },
    'no typ': untyped,
    'no alg': withoutAlgorithm,
    'alg es256': { ...header, alg: 'es256' },
    'alg ES256 and a space': { ...header, alg: 'ES256 ' },
    'alg ES384': { ...header, alg: 'ES384' },
    'alg as an array': { ...header, alg: ['ES256'] },
    'an unknown critical extension': { ...header, crit: ['exp'], exp: 1 },
    'an empty list of critical extensions': { ...header, crit: [] },
    'an unencoded payload': { ...header, crit: ['b64'], b64: false },
    'b64 true': { ...header, b64: true },
    compressed: { ...header, zip: 'DEF' },
    'cty JWT': { ...header, cty: 'JWT' },
    'our own key, embedded': { ...header, jwk: own.publicJwk },
    'our own key, by URL': { ...header, jku: `${attackersUrl}/.well-known/jwks.json` },
    'another order': { kid: own.kid, typ: 'at+jwt', alg: 'ES256' },
    'a space': text.replace(',', ', '),
    'alg twice': text.replace('{', '{"alg":"none",'),
    'kid twice': text.replace('}', `,"kid":"${own.kid}"}`),
    'an escaped letter': text.replace('"alg"', '"\\u0061lg"'),
    'a byte order mark': `\ufeff${text}`,
    'not JSON': 'ES256',
    'an array': [header],
    null: null,
    nothing: '',
  };
  return named(Object.entries(headers), ([what, changed]) => ({
    [`header: ${what}`]: mint(changed, claims(), own.privateKey),
  }));
}

function named<T>(things: readonly T[], of: (thing: T) => Record<string, string>): Record<string, string> {
  return Object.assign({}, ...things.map(of));
}
