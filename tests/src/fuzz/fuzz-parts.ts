import fc from 'fast-check';
import type { Fault, Fixture, Framing, Operation, Part } from './fuzz-part.ts';

/** A well-formed id that does not exist. */
const missingId = 'thr_00000000000000000000000000';

const part = <T>(value: T, fault?: Fault): Part<T> => ({ value, fault });
const pickFrom = <T>(fault: Fault | undefined, ...values: T[]): fc.Arbitrary<Part<T>> =>
  fc.constantFrom(...values).map((value) => part(value, fault));
/** Picks the second kind one time in `rarity`. */
const rarely = <T>(rarity: number, usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: rarity - 1, arbitrary: usual }, { weight: 1, arbitrary: rare });

const writes = (operation: Operation) => !['get', 'list'].includes(operation);

export function methods(operation: Operation): fc.Arbitrary<Part> {
  const right = { get: 'GET', list: 'GET', create: 'POST', rename: 'PATCH', delete: 'DELETE' }[operation];
  const usual = writes(operation) ? fc.constant(part(right)) : pickFrom(undefined, 'GET', 'GET', 'HEAD');
  return rarely(
    8,
    usual,
    fc.oneof(
      pickFrom(
        'route',
        'PUT',
        'OPTIONS',
        'TRACE',
        'PROPFIND',
        'PURGE',
        'QUERY',
        'LINK',
        'M-SEARCH',
        'MKCOL',
        'LOCK',
      ),
      pickFrom('http', 'FOO', 'get', 'Post', 'G@T', 'CONNECT', 'DELETEX', '\0GET', 'PRI', '\x16\x03\x01'),
    ),
  );
}

export function paths(operation: Operation, fixture: Fixture): fc.Arbitrary<Part> {
  const collection = operation === 'list' || operation === 'create';
  // Deleting an existing thread would affect later requests.
  const known =
    operation === 'delete'
      ? part(`/api/v1/threads/${missingId}`, 'thread')
      : part(`/api/v1/threads/${fixture.threadId}`);
  const usual = collection ? fc.constant(part('/api/v1/threads')) : fc.constant(known);
  const same = (collection ? '/api/v1/threads' : known.value).slice('/api'.length);
  const anywhere = [
    pickFrom(
      'outside',
      '//api/v1/threads',
      '/api//v1/threads',
      '/nowhere',
      '/%',
      '/API/v1/threads',
      '/api/v2/threads',
      '/api%2Fv1/threads',
      '/api',
      '/..',
      '/%2e%2e/api/v1/threads',
    ),
    pickFrom(
      'route',
      '/api/v1',
      '/api/v1/',
      '/api/v1//threads',
      '/api/v1/../v1/threads',
      '/api/v1/Threads',
      '/api/v1/threads%2F',
      '/api/v1/threads%00',
      '/api/v1/thre%',
      '/api/v1/%c0%af',
      '/api/v1/threads;a=b',
      `/api/v1/threads/${missingId}/`,
      '/api/v1/threads/a/messages',
      '/api/v1/__proto__',
      `/api/v1/${'a'.repeat(12_000)}`,
    ),
    pickFrom(
      'http',
      '/api/v1/thre\0ads',
      '/api/v1/thr eads',
      '/api/v1/thr\xe9ads',
      'threads',
      '',
      '\\',
      `/api/v1/${'a'.repeat(17_000)}`,
    ),
    fc
      .constantFrom('http://elsewhere.example/api', 'HTTPS://a:1/api', '/%61pi', '/ap%69')
      .map((prefix) => ({ ...known, value: `${prefix}${same}` }) as Part)
      .map((spelled) => (collection ? part(spelled.value) : spelled)),
  ];
  const ids = fc.oneof(
    pickFrom(
      'thread',
      '',
      '%',
      '%zz',
      '%c0%af',
      '%00',
      '%ff',
      '..',
      '%2e%2e',
      'null',
      '__proto__',
      'constructor',
      missingId,
      missingId.toUpperCase(),
      `${fixture.threadId}x`,
      `${fixture.threadId}%20`,
      fixture.threadId.replace('thr_', 'msg_'),
      'a%2Fb',
      "'%20OR%201=1",
      '9'.repeat(10_000),
    ),
    fc.webSegment({ size: 'small' }).map((segment) => part(`x${segment}`, 'thread')),
    // Reading a colleague's published thread is allowed; changing it is not.
    fc.constant(part(fixture.foreignPublishedId, writes(operation) ? 'creator' : undefined)),
  );
  const items = ids.map(({ value, fault }) => part(`/api/v1/threads/${value}`, fault));
  return rarely(4, usual, collection ? fc.oneof(...anywhere) : fc.oneof(...anywhere, items, items));
}

export function queries(operation: Operation): fc.Arbitrary<Part> {
  const ignored = pickFrom(
    undefined,
    '',
    '',
    'x=1',
    '%',
    '&&&',
    '=',
    'LIMIT=0',
    '__proto__=1',
    'limit%00=9',
    `z=${'%41'.repeat(500)}`,
  );
  if (operation !== 'list') return rarely(4, fc.constant(part('')), ignored);
  const refused = pickFrom(
    'validation',
    'limit=0',
    'limit=101',
    'limit=1.5',
    'limit=1e1',
    'limit=',
    'limit',
    'limit=-1',
    'limit=+5',
    'limit=0x10',
    'limit=NaN',
    'limit=%31%',
    'limit=5&limit=5',
    'limit=99999999999999999999',
    'limit=%EF%BC%91',
    'limit=05',
    'limit=5%20',
    'cursor=',
    'cursor',
    'cursor=%',
    'cursor=null',
    'cursor=AAAA',
    'cursor=%00',
    'cursor=%ff',
    'cursor=a&cursor=b',
    `cursor=${'A'.repeat(8000)}`,
    'accountId=%00',
    'accountId=%ED%A0%80',
    'accountId=a&accountId=a',
    'accountId=%c0%80',
    `accountId=${'a'.repeat(256)}`,
  );
  const random = fc
    .base64String({ minLength: 4, maxLength: 200 })
    .map((text) => part(`cursor=${encodeURIComponent(text)}`, 'validation'));
  const accepted = pickFrom(
    undefined,
    'limit=1',
    'limit=1&x=%',
    'accountId=nobody',
    'accountId=%F0%9F%A7%B6',
    'accountId=',
  );
  return fc.oneof(
    accepted,
    ignored.map(({ value }) => part(`limit=1&${value}`)),
    refused,
    random,
  );
}

export function credentials(operation: Operation, fixture: Fixture): fc.Arbitrary<Part<readonly string[]>> {
  const { key, orgWideKey, revokedKey, outsideKey } = fixture;
  const bearer = (token: string, scheme = 'Bearer') => [`Authorization: ${scheme} ${token}`];
  const good = pickFrom(undefined, bearer(key), bearer(key), bearer(key, 'bearer'), bearer(key, 'BEARER   '));
  const orgWide = fc.constant(part(bearer(orgWideKey), writes(operation) ? 'forbidden' : undefined));
  const bad = pickFrom(
    'credential',
    [],
    ['Authorization:'],
    ['Authorization: Bearer'],
    ['Authorization: Basic YTpi'],
    [`Authorization: ${key}`],
    bearer(revokedKey),
    bearer(`${key}x`),
    bearer(key.slice(0, -1)),
    bearer(key.toLowerCase()),
    bearer(`${key} ${key}`),
    bearer(`"${key}"`),
    bearer('eak_'),
    bearer(`eak_${'0'.repeat(36)}`),
    bearer('a'.repeat(8000)),
    bearer('\xff\xfe'),
    bearer('eyJhbGciOiJub25lIn0.e30.'),
    bearer('..'),
    [`Proxy-Authorization: Bearer ${key}`],
    [`Cookie: session=${key}`],
  );
  const usual = rarely(10, good, orgWide);
  // An org-wide principal may not read the fixture's unpublished thread, so it is not used for get.
  const reading = operation === 'get' ? good : usual;
  return rarely(6, reading, rarely(8, bad, fc.constant(part(bearer(outsideKey), 'disabled'))));
}

export function contentTypes(operation: Operation): fc.Arbitrary<Part<readonly string[]>> {
  if (operation !== 'create' && operation !== 'rename') return fc.constant(part([]));
  const line = (type: string) => [`Content-Type: ${type}`];
  return rarely(
    6,
    pickFrom(
      undefined,
      line('application/json'),
      line('application/json; charset=utf-8'),
      line('APPLICATION/JSON'),
      line('application/json;charset="UTF-8"'),
      line('application/json; charset=utf8; version=1'),
      line('application/json; a'),
    ),
    pickFrom(
      'validation',
      [],
      line('text/plain'),
      line(''),
      line('garbage'),
      line('application/json, text/plain'),
      line('application/jsonx'),
      line('application/json; charset=utf-16'),
      line('multipart/form-data; boundary=x'),
      line('application/x-www-form-urlencoded'),
      line('/'),
      line('\xff/\xff'),
    ),
  );
}

export function extras(operation: Operation): fc.Arbitrary<Part<readonly string[]>> {
  const host = 'Host: skein.test';
  const harmless = pickFrom<readonly string[]>(
    undefined,
    [host],
    [host, 'If-None-Match: "x", , W/,,"'],
    [host, 'if-none-match:'],
    [host, `If-None-Match: ${'W/"a",'.repeat(500)}`],
    [host, 'Prefer: wait=banana'],
    [host, 'Accept: \xff'],
    [host, 'Range: bytes=0-0,5-'],
    [host, 'X-Request-Id: <script>'],
    [host, 'Expect: 100-continue'],
    [host, 'Connection: Upgrade', 'Upgrade: websocket'],
    [host, 'X-Forwarded-For: ::::', 'Forwarded: for=_'],
  );
  const conditional = writes(operation)
    ? harmless
    : fc.oneof(harmless, fc.constant(part([host, 'If-None-Match: *'])));
  const idempotency =
    operation === 'create'
      ? fc.oneof(
          pickFrom(
            undefined,
            [host, 'Idempotency-Key: "{index}"'],
            [host, 'Idempotency-Key: \xe9{index}'],
            [host, 'Idempotency-Key: __proto__{index}'],
          ),
          pickFrom('validation', [host, 'Idempotency-Key:'], [host, `Idempotency-Key: ${'k'.repeat(256)}`]),
        )
      : harmless;
  const refused = pickFrom<readonly string[]>(
    'http',
    [],
    [host, 'Expect: the-unexpected'],
    [host, 'no colon here'],
    [host, 'Spaced : name'],
    [host, 'X: a\0b'],
    [host, ' folded: line'],
    [host, `X: ${'h'.repeat(17_000)}`],
    [host, 'X: a\rY: b'],
    [host, ': nameless'],
    [host, ...Array.from({ length: 3000 }, () => 'a: b')],
  );
  return rarely(
    10,
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(part([host])) },
      { weight: 2, arbitrary: conditional },
      { weight: 1, arbitrary: idempotency },
    ),
    refused,
  );
}

export function framings(operation: Operation): fc.Arbitrary<Part<Framing>> {
  if (operation !== 'create' && operation !== 'rename') return fc.constant(part({ style: 'length' }));
  const broken = (...fields: string[]) => ({ style: 'broken', fields }) as const;
  return rarely(
    12,
    rarely<Part<Framing>>(5, fc.constant(part({ style: 'length' })), fc.constant(part({ style: 'chunked' }))),
    rarely<Part<Framing>>(
      12,
      pickFrom<Framing>(
        'http',
        broken('Content-Length: 5', 'Content-Length: 6'),
        broken('Content-Length: -1'),
        broken('Content-Length: 0x10'),
        broken('Content-Length: 1 2'),
        broken('Content-Length: 9999999999999999999999'),
        broken('Content-Length: 4', 'Transfer-Encoding: chunked'),
        broken('Transfer-Encoding: chunked', 'Content-Length: 4'),
        broken('Transfer-Encoding: chunked, identity'),
        broken('Transfer-Encoding: xchunked'),
        broken('Transfer-Encoding: chunked', 'Transfer-Encoding: identity'),
      ),
      // The head is complete: faults in it are reported before the missing rest of the body.
      pickFrom<Framing>('validation', { style: 'broken', fields: ['Content-Length: 1000000'], cut: true }),
    ),
  );
}
