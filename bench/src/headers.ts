import type { Target } from './load.ts';
import type { Plan } from './plan.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { sendRaw } from './raw-requests.ts';
import { median } from './rounds.ts';
import { seedStore } from './seed.ts';
import { skein, startService } from './service.ts';
import { cpuMilliseconds } from './start.ts';
import { micros, printTable, times } from './table.ts';

/** Almost the largest request that is accepted: 16 KiB for the request line and all headers. */
const stuffedBytes = 15_000;

/** What a header is filled with. Each is cheap for some parsers and expensive for others. */
const fillings = [
  ...['a', ' ', ',', ';', '=', '"', '%41', 'a,', 'a;', 'a=b,', 'a=b;', '"a",', 'W/"a",', 'a="b";', '\\"'],
  ...['127.0.0.1,', '::1,', '0-1,', 'q=0,', 'wait=x,', 'charset=x;'],
];

/** What every header costs: its bytes are read and kept. */
const unreadHeader = 'x-unread';

/** The headers that some part of the service or of its framework reads, and what must precede a filling to be read. */
const headers: Readonly<Record<string, readonly string[]>> = {
  [unreadHeader]: [''],
  accept: ['', 'text/html,'],
  'accept-encoding': [''],
  authorization: ['', 'Bearer ', 'Bearer eak_', 'Bearer a.b.', 'Basic '],
  baggage: [''],
  connection: ['', 'keep-alive,'],
  'content-encoding': [''],
  'content-type': ['', 'application/json;', 'application/x-www-form-urlencoded;', 'application/json'],
  cookie: ['', 'skein=', 'skein-device='],
  forwarded: [''],
  host: [''],
  'idempotency-key': [''],
  'if-modified-since': [''],
  'if-none-match': ['', 'W/'],
  origin: ['', 'http://'],
  prefer: ['', 'wait='],
  range: ['', 'bytes='],
  'sec-fetch-site': [''],
  te: [''],
  traceparent: ['', '00-'],
  tracestate: [''],
  upgrade: [''],
  'user-agent': [''],
  'x-forwarded-for': [''],
  'x-forwarded-host': [''],
  'x-skein-csrf': [''],
};

/** Header lines that are repeated as often as is accepted. */
const repeatedLines = [
  'a: b',
  'x-%: b',
  'cookie: a=b',
  'accept: a',
  'x-forwarded-for: ::1',
  'if-none-match: ""',
];
/** The request has a few headers of its own. */
const linesMax = 90;
/** Parts of the request line that are repeated. `limit` is a parameter of listings. */
const repeatedTargets = ['a', '/', '%41', '%zz', '?', '&', 'a&', 'a=b&', '%61=&', '%ff&', 'limit&', 'a+'];

interface Plain {
  readonly name: string;
  readonly target: Target;
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Variant {
  readonly what: string;
  readonly text: string;
}

/**
 * Measures how much more a request costs with a header of 15 KB than without it. Every header that the service reads is
 * filled in each way; the table shows a header that nothing reads, and those that cost most.
 */
export async function measureHeaders(plan: Plan): Promise<void> {
  const store = await seedStore(temporaryFolder(), plan.smallThreads);
  const { folder, ownIds, personalKey, orgWideKey, application } = store;
  const { id: spent } = await skein(folder, 'org', 'create', 'Spent', '--quota', '0');
  const { key: spentKey } = await skein(folder, 'key', 'create', spent, '--org-wide');
  const target = await startService(folder);
  const traced = await startService(temporaryFolder(), {
    SKEIN_TRUSTED_PROXIES: '127.0.0.0/8,::1',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_TRACES_SAMPLER: 'always_off',
    OTEL_METRICS_EXPORTER: 'none',
  });
  const json = { 'content-type': 'application/json' };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const thread = `/api/v1/threads/${ownIds[0]}`;
  const form = `grant_type=client_credentials&client_id=${application.clientId}&client_secret=wrong`;
  const plains: Plain[] = [
    { name: 'get', target, line: `GET ${thread}`, headers: bearer(personalKey) },
    { name: 'list', target, line: 'GET /api/v1/threads?limit=1', headers: bearer(personalKey) },
    { name: 'get, 429', target, line: `GET ${thread}`, headers: bearer(spentKey) },
    { name: 'get, 401', target, line: `GET ${thread}`, headers: bearer('eak_wrong') },
    {
      name: 'create, 400',
      target,
      line: 'POST /api/v1/threads',
      headers: { ...bearer(personalKey), ...json },
      body: '{}',
    },
    {
      name: 'create, 403',
      target,
      line: 'POST /api/v1/threads',
      headers: { ...bearer(orgWideKey), ...json },
      body: '{}',
    },
    {
      name: 'token, wrong secret',
      target,
      line: 'POST /oauth2/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form,
    },
    { name: 'console, 401', target, line: 'GET /console/session' },
    {
      name: 'sign-in, 400',
      target,
      line: 'POST /console/sign-in',
      headers: { ...json, 'x-skein-csrf': '1' },
      body: '{}',
    },
    { name: 'page', target, line: 'GET /' },
    { name: 'file', target, line: 'GET /favicon.svg' },
    { name: 'unknown path', target, line: 'GET /unknown' },
    { name: 'get, 401, behind a proxy, traced', target: traced, line: `GET ${thread}` },
    { name: 'console, 401, behind a proxy, traced', target: traced, line: 'GET /console/session' },
  ];
  const rows: string[][] = [];
  for (const plain of plains) rows.push(...(await measureVariants(plain, plan)));
  await target.stop();
  await traced.stop();
  removeFolder(folder);
  printTable(
    `Requests with ${stuffedBytes.toLocaleString('en')} bytes of one header, and those without`,
    ['request', 'header', 'CPU µs', 'plain CPU µs', 'ratio'],
    rows,
  );
}

const rowsShown = 4;
const screenedWith = 20;

/** Tries every variant with few requests, and then measures the most expensive ones against the plain request. */
async function measureVariants(plain: Plain, { settings, isQuick }: Plan): Promise<string[][]> {
  const amount = isQuick ? 100 : 400;
  const plainText = requestText(plain);
  await measureCost(plain, plainText, amount);
  const screened: { variant: Variant; cost: number }[] = [];
  for (const variant of listVariants(plain)) {
    screened.push({ variant, cost: await measureCost(plain, variant.text, screenedWith) });
  }
  const worst = screened.toSorted((a, b) => b.cost - a.cost).map(({ variant }) => variant);
  const isFirst = ({ what }: Variant, index: number) =>
    worst.findIndex((one) => readName(one.what) === readName(what)) === index;
  const unread = worst.find(({ what }) => readName(what) === unreadHeader)!;
  const chosen = worst.filter(isFirst).filter(({ what }) => readName(what) !== unreadHeader);
  const measured = [unread, ...chosen.slice(0, rowsShown)];
  const costs = measured.map((): number[] => []);
  const plainCosts: number[] = [];
  for (let round = 0; round < settings.rounds; round += 1) {
    plainCosts.push(await measureCost(plain, plainText, amount));
    for (const [index, { text }] of measured.entries())
      costs[index]!.push(await measureCost(plain, text, amount));
  }
  return measured.map(({ what }, index) => [
    plain.name,
    what,
    micros(median(costs[index]!)),
    micros(median(plainCosts)),
    times(median(costs[index]!.map((cost, round) => cost / plainCosts[round]!))),
  ]);
}

/** Microseconds of processor time per request. */
async function measureCost({ target }: Plain, text: string, amount: number): Promise<number> {
  let sent = 0;
  const before = cpuMilliseconds(target.pid);
  // A header of its own, so that no two requests have the same bytes.
  const next = () => text.replace('\r\n', `\r\nx-request: ${++sent}\r\n`);
  await sendRaw(target.baseUrl, next, { connections: 8, amount });
  return ((cpuMilliseconds(target.pid) - before) / amount) * 1000;
}

function readName(what: string): string {
  return what.split(' ')[0]!;
}

function listVariants(plain: Plain): Variant[] {
  const ofHeaders = Object.entries(headers).flatMap(([name, starts]) =>
    starts.flatMap((start) =>
      fillings.map((filling) => {
        const value = start + filling.repeat(stuffedBytes / filling.length);
        return {
          what: `${name} ${JSON.stringify(start + filling)}`,
          text: requestText({ ...plain, headers: { ...plain.headers, [name]: `${value}x` } }),
        };
      }),
    ),
  );
  const ofLines = repeatedLines.map((line) => {
    const amount = Math.min(linesMax, Math.floor(stuffedBytes / (line.length + 5)));
    const lines = Array.from({ length: amount }, (_, number) => `${line.replace('%', String(number))}\r\n`);
    return { what: `lines ${JSON.stringify(line)}`, text: requestText(plain, lines.join('')) };
  });
  const ofTargets = ['', '?'].flatMap((start) =>
    repeatedTargets.map((part) => ({
      what: `target ${JSON.stringify(start + part)}`,
      text: requestText({ ...plain, line: plain.line + start + part.repeat(stuffedBytes / part.length) }),
    })),
  );
  return [...ofHeaders, ...ofLines, ...ofTargets];
}

function requestText({ line, headers: own, body = '' }: Omit<Plain, 'name' | 'target'>, lines = ''): string {
  const all = { host: 'skein.test', ...own, ...(body !== '' && { 'content-length': String(body.length) }) };
  const written = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${written.join('')}${lines}\r\n${body}`;
}
