import type { Chance } from './chance.ts';

/** Requests that are valid HTTP, with hostile values in their paths, queries, headers and bodies. */
export function hostileCalls(chance: Chance, key: string, count: number): string {
  return Array.from({ length: count }, () => hostileCall(chance, key)).join('');
}

const methods = ['GET', 'GET', 'GET', 'POST', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS'] as const;
const parameters = ['limit', 'cursor', 'accountId', 'order', 'limit[]', '__proto__', ''] as const;
const fields = [
  'prompt',
  'title',
  'accountId',
  'secondaryId',
  'published',
  '__proto__',
  'constructor',
] as const;
const texts = [
  '',
  ' ',
  'x',
  '0',
  '-1',
  '25',
  '101',
  '1e9',
  'null',
  'thr_none',
  'thr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '../../etc/passwd',
  "' OR 1=1 --",
  '{{7*7}}',
  '<script>alert(1)</script>',
  '\u0000',
  '\u202e\u200b\ufeff',
  '\ud800',
  '👩‍👩‍👧',
  'ﬀﬁ Ⅷ ｘ',
  'e\u0301'.repeat(50),
  'a'.repeat(300),
  'a'.repeat(5000),
] as const;

const wellEncoded = texts.map((text) => encodeURIComponent(text.toWellFormed()));
const needlesslyEncoded = texts.map((text) => Buffer.from(text).toString('hex').replace(/../g, '%$&'));
const badlyEncoded = ['%', '%zz', '%ff%fe', '%00', '%c0%af', '+'];

function hostileCall(chance: Chance, key: string): string {
  const method = chance.pick(methods);
  const body = method === 'GET' || chance.below(4) === 0 ? '' : hostileBody(chance);
  return [
    `${method} ${hostilePath(chance)} HTTP/1.1`,
    'Host: x',
    `Authorization: ${chance.pick([`Bearer ${key}`, `Bearer ${key}`, `bearer ${key}`, `Bearer ${key.slice(0, -1)}`, 'Basic eDp4'])}`,
    `Content-Type: ${chance.pick(['application/json', 'application/json', 'application/json; charset=utf8', 'text/plain', ';'])}`,
    ...chance.pick([
      [],
      [],
      ['If-None-Match: *'],
      ['If-None-Match: W/"x", "'],
      ['Prefer: wait=-1'],
      ['Range: bytes=0-'],
    ]),
    `Content-Length: ${Buffer.byteLength(body, 'latin1')}`,
    '',
    body,
  ].join('\r\n');
}

function hostilePath(chance: Chance): string {
  const id = encoded(chance);
  const path = chance.pick([
    '/api/v1/threads',
    `/api/v1/threads/${id}`,
    `/api/v1/threads/${id}/${encoded(chance)}`,
  ]);
  const query = Array.from(
    { length: chance.below(3) },
    () => `${chance.pick(parameters)}=${encoded(chance)}`,
  );
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

function encoded(chance: Chance): string {
  return chance.pick(chance.pick([wellEncoded, needlesslyEncoded, badlyEncoded]));
}

/** JSON, cut or changed in one of four cases. One character is one byte on the wire. */
function hostileBody(chance: Chance): string {
  const value = hostileValue(chance, 3);
  const text = Buffer.from(JSON.stringify(value) ?? '').toString('latin1');
  return chance.pick([
    text,
    text,
    text,
    text.slice(0, chance.below(text.length + 1)),
    `${text}${chance.pick([text, '\0', ',', '\n'])}`,
    text.replace('{', `{"${chance.pick(fields)}":1,`),
  ]);
}

function hostileValue(chance: Chance, depth: number): unknown {
  const object = () =>
    Object.fromEntries(
      Array.from({ length: chance.below(4) }, () => [chance.pick(fields), hostileValue(chance, depth - 1)]),
    );
  const text = () => chance.pick(texts);
  const choices = [text, text, () => null, () => chance.pick([0, -1, 1.5, 1e308, true, false])];
  return chance.pick(depth > 0 ? [...choices, object, object, object, () => [object()]] : choices)();
}
