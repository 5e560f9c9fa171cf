import type { ForgersKit } from './forgers-kit.ts';
import { type Claims, encoded, headerFor, mint, signES256 } from './token-forge.ts';

/** Tokens signed with the service's own key and the correct header. Only their claims are wrong. */
export function forgedClaims(kit: ForgersKit): Record<string, string> {
  const header = headerFor(kit.own);
  const changed = Object.entries({ ...otherParties(kit), ...otherTimes(kit), ...otherEpochs() });
  const missing = ['iss', 'aud', 'sub', 'client_id', 'iat', 'exp', 'jti', 'org_id', 'epoch'].flatMap(
    (claim) => [
      [`no ${claim}`, { [claim]: undefined }] as const,
      [`${claim} null`, { [claim]: null }] as const,
    ],
  );
  const payloads = [
    ...[...changed, ...missing].map(([what, changes]) => [what, kit.claims(changes)] as const),
    ...Object.entries(otherSpellings(kit)),
  ];
  return Object.fromEntries(
    payloads.map(([what, payload]) => [`claims: ${what}`, mint(header, payload, kit.own.privateKey)]),
  );
}

function otherParties(kit: ForgersKit): Record<string, Claims> {
  const { authUrl, baseUrl } = kit;
  const { sub, aud } = kit.claims() as { sub: string; aud: string };
  const client = (id: unknown) => ({ sub: id, client_id: id });
  return {
    'another issuer': { iss: 'https://elsewhere.example' },
    'the API as the issuer': { iss: baseUrl },
    'the issuer with a slash': { iss: `${authUrl}/` },
    'the issuer in upper case': { iss: authUrl.toUpperCase() },
    'the issuer in an array': { iss: [authUrl] },
    'another audience': { aud: 'https://elsewhere.example/api/v1' },
    'the issuer as the audience': { aud: authUrl },
    'the host as the audience': { aud: baseUrl },
    'the audience with a slash': { aud: `${aud}/` },
    'the audience in an array': { aud: [aud] },
    'the audience among others': { aud: ['https://elsewhere.example', aud] },
    'an empty array of audiences': { aud: [] },
    'another organization': { org_id: kit.foreignOrganization },
    'another organization’s application': client(kit.foreignClient),
    'an unknown organization': { org_id: `org_${'0'.repeat(26)}` },
    'the organization in an array': { org_id: [kit.claims().org_id] },
    'sub not client_id': { sub: kit.foreignClient },
    'client_id not sub': { client_id: kit.foreignClient },
    'an unknown application': client(`app_${'0'.repeat(26)}`),
    'an empty application': client(''),
    'an SQL injection': client(`${sub}' OR '1'='1`),
    'the application in an array': client([sub]),
    'the application in upper case': client(sub.toUpperCase()),
    'a deleted application': client(kit.deletedClient),
    'a deleted application, with its last epoch': { ...client(kit.deletedClient), epoch: 2 },
  };
}

function otherTimes(kit: ForgersKit): Record<string, Claims> {
  const { iat: now } = kit.claims() as { iat: number };
  const hour = 3600;
  return {
    'expired a second ago': { iat: now - hour - 1, exp: now - 1 },
    'expires now': { iat: now - hour, exp: now },
    'expired an hour ago': { iat: now - 2 * hour, exp: now - hour },
    'issued two hours ago, valid for three': { iat: now - 2 * hour, exp: now + hour },
    'issued in a minute': { iat: now + 60, exp: now + 60 + hour },
    'valid for a day': { exp: now + 24 * hour },
    'valid forever': { exp: 1e308 },
    'valid until the largest safe integer': { exp: Number.MAX_SAFE_INTEGER },
    'not valid before a minute from now': { nbf: now + 60 },
    'nbf as a string': { nbf: 'now' },
    'exp as a string': { exp: String(now + hour) },
    'exp negative': { exp: -1 },
    'exp zero': { exp: 0 },
    'exp with a fraction': { exp: now + hour + 0.5 },
    'exp in milliseconds': { exp: (now + hour) * 1000 },
    'exp true': { exp: true },
    'iat as a string': { iat: String(now) },
    'iat with a fraction': { iat: now - 0.5 },
    'iat negative': { iat: -1 },
  };
}

function otherEpochs(): Record<string, Claims> {
  const epochs = [0, 2, -1, 1.5, '1', true, [1], { epoch: 1 }, 2 ** 53, 1e308];
  return Object.fromEntries(epochs.map((epoch) => [`epoch ${JSON.stringify(epoch)}`, { epoch }]));
}

/** JSON that some parsers read as the valid claims. */
function otherSpellings({ good, claims }: ForgersKit): Record<string, unknown> {
  const text = JSON.stringify(claims());
  const bytes = (change: (text: string) => string) => Buffer.from(change(text));
  return {
    'a claim twice, with another value first': bytes(() => text.replace('{', '{"epoch":7,')),
    'a claim twice, with another value last': bytes(() => text.replace(/}$/, ',"epoch":7}')),
    'a claim twice, with the same value': bytes(() => text.replace(/}$/, ',"epoch":1}')),
    'an escaped name': bytes(() => text.replace('"sub"', '"s\\u0075b"')),
    'an escaped value': bytes(() => text.replace('"app_', '"\\u0061pp_')),
    'an escaped slash': bytes(() => text.replace('//', '\\/\\/')),
    'a space': bytes(() => text.replace(',', ', ')),
    'a line feed at the end': bytes(() => `${text}\n`),
    'a zero byte at the end': bytes(() => `${text}\0`),
    'a byte order mark': bytes(() => `\ufeff${text}`),
    'a number with a point': bytes(() => text.replace('"epoch":1', '"epoch":1.0')),
    'a number with an exponent': bytes(() => text.replace('"epoch":1', '"epoch":1e0')),
    'not UTF-8': Buffer.concat([
      Buffer.from(text.replace(/"}?$/, '')),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]),
    'UTF-16': Buffer.from(text, 'utf16le'),
    'not JSON': Buffer.from('claims'),
    nothing: Buffer.from(''),
    null: null,
    'a number': 1,
    'an array': [claims()],
    'a string': JSON.stringify(text),
    'a whole token': Buffer.from(good),
    'a whole token, as JSON': JSON.stringify(good),
  };
}

/** The parts of a valid token, cut, swapped and encoded differently. */
export function brokenTokens({ good, another, own, claims }: ForgersKit): Record<string, string> {
  const [header, payload, signature] = good.split('.') as [string, string, string];
  const input = `${header}.${payload}`;
  const with_ = (text: string) => `${input}.${text}`;
  const long = (length: number) => mint(headerFor(own), claims({ jti: 'x'.repeat(length) }), own.privateKey);
  return {
    'the header alone': header,
    'the header and a dot': `${header}.`,
    'two parts': input,
    'an empty signature': `${input}.`,
    'an empty payload': `${header}..${signature}`,
    'an empty header': `.${payload}.${signature}`,
    'only dots': '..',
    'a dot at the start': `.${good}`,
    'a dot at the end': `${good}.`,
    'four parts': `${good}.${signature}`,
    'five parts, as if encrypted': `${header}.${encoded('key')}.${encoded('iv')}.${payload}.${signature}`,
    'the header without its last character': `${header.slice(0, -1)}.${payload}.${signature}`,
    'the payload without its last character': `${header}.${payload.slice(0, -1)}.${signature}`,
    'the signature without its last character': with_(signature.slice(0, -1)),
    'half a signature': with_(signature.slice(0, 43)),
    'the signature twice': with_(signature + signature),
    'the signature of another token': with_(another.split('.')[2] as string),
    'the payload of another token': `${header}.${another.split('.')[1]}.${signature}`,
    'a signature of zeros': with_(encoded(Buffer.alloc(64))),
    'a signature of ones': with_(encoded(Buffer.alloc(64, 0xff))),
    'a signature in DER': with_(encoded(signES256(input, own.privateKey, 'der'))),
    'a signature with an extra byte': with_(
      encoded(Buffer.concat([Buffer.from(signature, 'base64url'), Buffer.alloc(1)])),
    ),
    'another spelling of the signature': with_(respelled(signature)),
    'another spelling of the payload': respelledPayload(own, claims),
    'padding after the signature': `${good}==`,
    'padding after the header': `${header}=.${payload}.${signature}`,
    'base64 with the standard alphabet': inOldAlphabet(own, claims),
    'a space within': `${input}. ${signature}`,
    'a tab within': `${input}.\t${signature}`,
    'the token twice, separated by a comma': `${good},${good}`,
    quoted: `"${good}"`,
    'with an extra scheme': `Bearer ${good}`,
    'encoded for a form': good.replaceAll('.', '%2E'),
    '5 kB long': long(3600),
    '15 kB long': long(11_000),
  };
}

/** The same bytes to a lenient decoder, because the last character has unused bits. */
function respelled(part: string): string {
  const spare = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = [...spare].find((last) => {
    const text = part.slice(0, -1) + last;
    return text !== part && Buffer.from(text, 'base64url').equals(Buffer.from(part, 'base64url'));
  });
  if (other === undefined) throw new Error('this part has no bits to spare');
  return part.slice(0, -1) + other;
}

/** Signed in this encoding, so that only the encoding is wrong. */
function respelledPayload(own: ForgersKit['own'], claims: ForgersKit['claims']): string {
  for (const jti of ['x', 'xx', 'xxx']) {
    const payload = encoded(claims({ jti }));
    if (payload.length % 4 === 0) continue;
    const input = `${encoded(headerFor(own))}.${respelled(payload)}`;
    return `${input}.${encoded(signES256(input, own.privateKey))}`;
  }
  throw new Error('one length in three has no bits to spare');
}

/** A signature with `+` and `/` instead of the characters of base64url. */
function inOldAlphabet(own: ForgersKit['own'], claims: ForgersKit['claims']): string {
  for (;;) {
    const token = mint(headerFor(own), claims(), own.privateKey);
    const old = token.replaceAll('-', '+').replaceAll('_', '/');
    if (old !== token) return old;
  }
}
