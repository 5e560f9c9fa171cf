import { Chance } from './chance.ts';
import { hostileCalls } from './fuzz-calls.ts';

/** What one fuzzed connection sends, in which pieces, and how it ends. */
export interface Script {
  readonly kind: string;
  readonly pieces: readonly Buffer[];
  /** `finish` closes our side and reads to the end; `leave` closes both sides; `reset` sends a TCP reset. */
  readonly ending: 'finish' | 'leave' | 'reset';
}

/** Script number `index` of a run. The first scripts cut a pair of requests at every byte and end in each way. */
export function buildScript(
  index: number,
  seed: number,
  { key, callsMax }: { readonly key: string; readonly callsMax: number },
): Script {
  const chance = new Chance(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  const endings = ['reset', 'finish', 'leave'] as const;
  const pair = get(key) + create(key);
  if (index < pair.length * 2) {
    const bytes = Buffer.from(pair.slice(0, 1 + (index >> 1)), 'latin1');
    return { kind: 'cut', pieces: [bytes], ending: endings[index % 2] as 'reset' | 'finish' };
  }
  // Opening connections takes most of the time, and this kind sends many requests on one.
  const kind = chance.below(2) === 0 ? 'calls' : (chance.pick(Object.keys(makers)) as keyof typeof makers);
  const made = makers[kind](chance, key, callsMax);
  const bytes = typeof made === 'string' ? Buffer.from(made, 'latin1') : made;
  return { kind, pieces: split(bytes, chance), ending: chance.pick(['finish', 'finish', ...endings]) };
}

const makers = {
  connect: (chance: Chance, key: string) =>
    validRequests(chance, key) +
    request(chance.pick(['CONNECT x', 'CONNECT x:1', 'CONNECT 127.0.0.1:22', 'CONNECT /', 'CONNECT']), [
      ...chance.pick([
        [],
        ['Host: x'],
        ['Host: x', 'Content-Length: 5'],
        ['Host: x', 'Expect: 100-continue'],
      ]),
    ]) +
    chance.pick(['', 'SSH-2.0-x\r\n', '\0'.repeat(100), get(key)]),
  upgrade: (chance: Chance, key: string) =>
    validRequests(chance, key) +
    request(`${chance.pick(['GET', 'POST', 'OPTIONS'])} ${chance.pick(paths)}`, [
      'Host: x',
      `Connection: ${chance.pick(['Upgrade', 'upgrade, keep-alive', 'Upgrade, HTTP2-Settings'])}`,
      `Upgrade: ${chance.pick(['websocket', 'h2c', 'TLS/1.0', ''])}`,
      ...chance.pick([[], ['Content-Length: 4'], ['Transfer-Encoding: chunked']]),
    ]) +
    chance.pick(['', '\x81\x05hello', '0\r\n\r\n', get(key)]),
  expect: (chance: Chance, key: string) =>
    validRequests(chance, key) +
    create(key, [
      `Expect: ${chance.pick(['100-continue', '100-Continue, x', 'miracles', '', '\x01'])}`,
    ]).slice(0, chance.pick([undefined, -1, -20])) +
    chance.pick(['', get(key)]),
  pipelined: (chance: Chance, key: string) =>
    Array.from({ length: 1 + chance.below(40) }, () =>
      chance.pick([get, list, create, rejectedRequests])(key),
    ).join('') + chance.pick(['', 'garbage\r\n\r\n', 'GET', '\r\n\r\n']),
  calls: (chance: Chance, key: string, callsMax: number) =>
    hostileCalls(chance, key, 1 + chance.below(callsMax)),
  chunking: (chance: Chance, key: string) =>
    validRequests(chance, key) +
    request('POST /api/v1/threads', [
      'Host: x',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Transfer-Encoding: ${chance.pick(['chunked', 'Chunked', 'chunked, chunked', 'gzip, chunked', 'identity'])}`,
    ]) +
    Array.from({ length: 1 + chance.below(4) }, () =>
      chance.pick([
        '3\r\n{"p\r\n',
        'ffffffffffffffff\r\nx\r\n',
        '-1\r\nx\r\n',
        '5;a=b\r\nhello\r\n',
        '5\nhello\n',
        'g\r\n\r\n',
        '0\r\nX: y\r\n\r\n',
        '0\r\n\r\n',
        `${'0'.repeat(chance.below(300))}1\r\nx\r\n`,
        `1;${'e'.repeat(chance.below(20_000))}\r\nx\r\n`,
      ]),
    ).join(''),
  oversized: (chance: Chance, key: string) =>
    validRequests(chance, key) +
    chance.pick([
      () => request('GET /api/v1/threads', ['Host: x', `X: ${'h'.repeat(15_000 + chance.below(3000))}`]),
      () => request('GET /api/v1/threads', ['Host: x', ...Array(500 + chance.below(4000)).fill('a: b')]),
      () => request(`GET /${'a'.repeat(16_000 + chance.below(60_000))}`, ['Host: x']),
      () => `${'A'.repeat(1 + chance.below(200_000))}`,
      () => create(key, [`Content-Length: ${2 ** 20 + chance.below(2 ** 20)}`]),
    ])(),
  mutated: (chance: Chance, key: string) => {
    const bytes = Buffer.from(get(key) + create(key) + list(key), 'latin1');
    for (let times = 1 + chance.below(4); times > 0; times -= 1) {
      bytes[chance.below(bytes.length)] = chance.pick([0, 10, 13, 32, 58, 127, 255, chance.below(256)]);
    }
    return bytes;
  },
  nuls: (chance: Chance, key: string) => {
    const whole = create(key);
    const place = chance.below(whole.length);
    return `${whole.slice(0, place)}${'\0'.repeat(1 + chance.below(3))}${whole.slice(place)}`;
  },
  random: (chance: Chance) => chance.bytes(1 + chance.below(chance.pick([8, 200, 5000]))),
} satisfies Record<string, (chance: Chance, key: string, callsMax: number) => string | Buffer>;

const paths = [
  '/',
  '/healthz',
  '/readyz',
  '/metrics',
  '/api/v1/threads',
  '/console/session',
  '*',
  'http://x/',
];

function request(target: string, lines: readonly string[], body = ''): string {
  return `${[`${target} HTTP/1.1`, ...lines, '', ''].join('\r\n')}${body}`;
}

function get(key: string): string {
  return request('GET /api/v1/threads/thr_none', ['Host: x', `Authorization: Bearer ${key}`]);
}

function list(key: string): string {
  return request('GET /api/v1/threads?limit=2', ['Host: x', `Authorization: Bearer ${key}`]);
}

function create(key: string, lines: readonly string[] = []): string {
  const body = '{"prompt":"x"}';
  return request(
    'POST /api/v1/threads',
    [
      'Host: x',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...lines,
    ],
    body,
  );
}

function rejectedRequests(key: string): string {
  return (
    request('DELETE /api/v1/threads/%zz', ['Host: x', `Authorization: Bearer ${key}`]) +
    request('PUT /nowhere', ['Host: x', 'Content-Length: 4'], '{{{{') +
    request('GET /api/v1/threads', ['Host: x'])
  );
}

/** Valid requests to send before the fault. The fault must not affect their answers. */
function validRequests(chance: Chance, key: string): string {
  return chance.pick(['', '', get(key), list(key) + create(key)]);
}

function split(bytes: Buffer, chance: Chance): Buffer[] {
  const pieces: Buffer[] = [];
  for (let rest = bytes, count = chance.pick([1, 1, 2, 5]); rest.length > 0; count -= 1) {
    const length = count <= 1 ? rest.length : 1 + chance.below(rest.length);
    pieces.push(rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return pieces;
}
