import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../domain/principal.ts';
import { setBounded } from '../domain/set-bounded.ts';
import {
  type Admitted,
  admit,
  type Credential,
  expectedPrincipal,
  readCredential,
} from '../usecases/credentials/authenticate.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';
import { bearerCredential, quotaFields } from './authenticate.ts';
import type { RepeatedRead } from './connection.ts';
import { keepAliveMs } from './listener.ts';
import { isOneRequest, type RawResponse } from './raw-messages.ts';
import { createTraceId } from './request.ts';
import type { ReportRequest } from './request-log.ts';
import {
  type Call,
  isPlain,
  isUnchanged,
  jsonType,
  type Route,
  type RouteResponse,
  revalidated,
} from './route.ts';

/** What is known of a read once it has been parsed, routed and validated. */
interface KnownRead extends Pick<Call, 'path' | 'query' | 'headers'> {
  readonly route: Route;
  /** The pattern of the route, with its prefix. */
  readonly pattern: string;
  readonly credential: Credential;
  readonly sentCredential: string;
}

/** A known read takes about 2 kB. */
const knownMax = 10_000;
/** Reads that share an entry of `seen` are not learned; of 10,000 reads, few do. Its unused pages take no memory. */
const seenLength = 131_072;

/**
 * Clients that poll send the same bytes again and again. A read that has been answered twice is then recognized by its
 * bytes: it is admitted, answered and logged like any other, but not parsed, routed and validated again, which takes half of
 * the time of a small response. Whatever is not a plain success is handled as if it were new.
 */
export function repeatedReads(context: SurfaceContext, report: ReportRequest, mayAnswer: () => boolean) {
  const known = new Map<string, KnownRead>();
  /** Only hashes of the reads that were answered once, so that requests with unique headers do not fill the memory. */
  const seen = new Uint32Array(seenLength);
  const { telemetry } = context;

  async function respond(
    head: string,
    read: KnownRead,
    admission: Promise<Admitted>,
  ): Promise<RawResponse | undefined> {
    const { route, pattern, path, query, headers } = read;
    const traceId = createTraceId();
    const startedMs = performance.now();
    telemetry.requestsInFlight(1);
    const handle = (principal: Principal) =>
      route.handle({ context, principal, path, query, headers, body: {}, traceId, hold } as unknown as Call);
    try {
      const expected = expectedPrincipal(context, read.credential);
      const early = expected && handle(expected);
      early?.catch(() => {});
      const admitted = await admission;
      const { granted, principal, credentialId } = admitted;
      const answer = granted ? await (early ?? handle(principal)) : undefined;
      if (answer !== undefined && mayAnswer() && isPlain(headers, answer)) {
        const isSame = isUnchanged(headers, answer);
        const body = isSame ? undefined : (answer.body as Buffer);
        const { method, operationId: operation } = route;
        const status = isSame ? 304 : 200;
        const ms = performance.now() - startedMs;
        const caller = { organizationId: principal.organizationId, credentialId };
        report({ traceId, method, route: pattern, operation, status, ms, ...caller });
        return { head: headOf(traceId, admitted, answer, body), body };
      }
    } catch {
      // The error is reported when the request is handled as if it were new.
    }
    telemetry.requestsInFlight(-1);
    known.delete(head);
    return undefined;
  }

  return {
    learn(route: Route, request: FastifyRequest, reply: FastifyReply): void {
      const { head } = request.raw;
      if (head === undefined || !isRepeatable(request, reply)) return;
      const hash = hashOf(head);
      const wasSeen = seen[hash % seenLength] === hash;
      seen[hash % seenLength] = hash;
      if (wasSeen) setBounded(known, head, knownRead(route, request), knownMax);
    },

    answer(head: string): RepeatedRead | undefined {
      const read = known.get(head);
      if (read === undefined || !mayAnswer()) return undefined;
      const { credential, sentCredential } = read;
      const admission =
        credential.kind === 'key'
          ? admit(context, credential)
          : // The token may have expired.
            readCredential(context, sentCredential).then((current) => admit(context, current));
      return { admission, response: respond(head, read, admission) };
    },
  };
}

/** The same head that Node wrote for the first response. */
function headOf(
  traceId: string,
  admitted: Admitted,
  { etag, headers }: RouteResponse,
  body: Buffer | undefined,
): string {
  const [policy, use] = quotaFields(admitted);
  let more = '';
  for (const name in headers) more += `${name}: ${headers[name]}\r\n`;
  if (etag !== undefined) more += `etag: ${etag}\r\ncache-control: ${revalidated}\r\n`;
  if (body !== undefined) more += `content-length: ${body.length}\r\n`;
  return `HTTP/1.1 ${body === undefined ? '304 Not Modified' : '200 OK'}\r
x-request-id: ${traceId}\r
x-content-type-options: nosniff\r
ratelimit-policy: ${policy}\r
ratelimit: ${use}\r
content-type: ${jsonType}\r
${more}Date: ${httpDate()}\r
Connection: keep-alive\r
Keep-Alive: timeout=${keepAliveMs / 1000}\r
\r
`;
}

function knownRead(route: Route, request: FastifyRequest): KnownRead {
  const { params, query, credential, routeOptions } = request;
  const names = Object.keys(route.headers?.properties ?? {});
  return {
    route,
    pattern: routeOptions.url!,
    path: params as Call['path'],
    query: query as Call['query'],
    headers: Object.fromEntries(names.map((name) => [name, request.headers[name]])),
    credential,
    sentCredential: bearerCredential(request)!,
  };
}

/** With one of these, the response depends on more than the route's parameters, or ends the connection. */
const excludedHeaders = ['prefer', 'expect', 'upgrade', 'content-length', 'transfer-encoding'];

function isRepeatable({ raw, headers }: FastifyRequest, { raw: response }: FastifyReply): boolean {
  const isUsual = raw.method === 'GET' && raw.httpVersion === '1.1' && response.shouldKeepAlive;
  return isUsual && isOneRequest(raw.head!) && !excludedHeaders.some((name) => name in headers);
}

/** A read that waits for a reply is never repeated. */
async function hold(): Promise<never> {
  throw new Error('A repeated read cannot wait.');
}

let dated = { second: Number.NaN, text: '' };

function httpDate(): string {
  const now = Date.now();
  const second = Math.floor(now / 1000);
  if (second !== dated.second) dated = { second, text: new Date(now).toUTCString() };
  return dated.text;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
