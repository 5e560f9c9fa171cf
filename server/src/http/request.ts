import { hash, randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { memoized } from '../../../runtime/src/pure/memoized.ts';
import { orUndefined } from '../../../runtime/src/pure/or-undefined.ts';
import { counted } from '../../../runtime/src/pure/text.ts';
import { toNetwork } from '../domain/address.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { traceIdStart } from '../domain/traffic.ts';

/** The caller whose turn a request takes. Unknown callers are distinguished by address, because they could invent a cookie for each request. */
export function callerOf({ principal, ip }: FastifyRequest): string {
  // A peer that has disconnected has no address.
  return principal?.organizationId ?? toNetwork(ip ?? '');
}

const pathLengthMax = limits.pathLengthMax.default;
const parametersMax = limits.queryParametersMax.default;
const entityTagsMax = limits.entityTagsMax.default;

/**
 * The request target for the router. In a path that cannot be decoded, `%` is replaced by a character that no id has, so
 * that the path goes through the same checks as any unknown path, in the same order. A path that is too long is shortened:
 * it is as unknown as before. Of a query, one parameter more than allowed is left, so that `parseQuery` rejects it.
 */
export function normalizeUrl(target: string): string {
  const url = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  const end = url.search(/[?#]/);
  if (end === -1) return normalizePath(url);
  const query = url.slice(end);
  const parameters = query.split('&', parametersMax + 1);
  return (
    normalizePath(url.slice(0, end)) + (parameters.length > parametersMax ? parameters.join('&') : query)
  );
}

function normalizePath(whole: string): string {
  const path = whole.slice(0, pathLengthMax);
  if (!path.includes('%')) return path;
  return decode(path) === undefined ? path.replaceAll('%', '!') : path;
}

export interface QuerySchema {
  readonly properties: Record<string, { readonly type?: string }>;
}

/** An escape that no parameter's name has: malformed, or not of ASCII. An error for each of 8,000 names would take 60 ms. */
const foreignEscape = /%(?![0-7][\da-f])/i;

/** Parses the known parameters. Only plain decimals become integers: `1e1` stays a string, which validation rejects. */
export function parseQuery(raw: string, { properties }: QuerySchema): Record<string, string | number> {
  const query: Record<string, string | number> = {};
  const pairs = raw.split('&');
  if (pairs.length > parametersMax)
    throw invalid(`Query string must have at most ${counted(parametersMax, 'parameter')}.`);
  for (const pair of pairs) {
    const separator = pair.indexOf('=');
    const written = separator === -1 ? pair : pair.slice(0, separator);
    const name = foreignEscape.test(written) ? undefined : decode(written);
    if (name === undefined || !Object.hasOwn(properties, name)) continue;
    if (Object.hasOwn(query, name)) throw invalid(`\`${name}\` must not be repeated.`);
    const value = decode(separator === -1 ? '' : pair.slice(separator + 1));
    if (value === undefined) throw invalid(`\`${name}\` is not valid percent-encoded UTF-8.`);
    query[name] =
      properties[name]?.type === 'integer' && /^(0|-?[1-9]\d{0,14})$/.test(value) ? Number(value) : value;
  }
  return query;
}

/** Decodes a form-encoded name or value; undefined if it is not valid percent-encoded UTF-8. */
export function decode(text: string): string | undefined {
  return orUndefined(() => decodeURIComponent(text.replaceAll('+', ' ')));
}

/** Weak: it identifies the content, not the bytes (a list's cursor is sealed differently each time). */
export function entityTag(representation: string): string {
  return `W/"${hash('sha1', representation, 'base64url')}"`;
}

interface ConditionalHeaders {
  readonly 'if-none-match'?: string | undefined;
}

/** Whether `If-None-Match` names the tag, by weak comparison (RFC 9110 §13.1.2). */
export function matchesEntityTag(headers: ConditionalHeaders, tag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined) return false;
  // What a client that polls sends. Comparing the members takes 3 % of the time of such a request.
  if (known === tag) return true;
  const { isAny, members } = knownTags(headers);
  return isAny || members.includes(opaqueTag(tag));
}

/** Read once for each request, however often its response is compared. */
const knownTags = memoized(({ 'if-none-match': known = '' }: ConditionalHeaders) => ({
  isAny: known.trim() === '*',
  members: known.split(',', entityTagsMax).map((member) => opaqueTag(member.trim())),
}));

function opaqueTag(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}

/** A member of a list. Commas within quotes do not separate members; a quote that is never closed ends with the header. */
const member = /(?:[^,"]|"(?:[^"\\]|\\.?)*(?:"|$))+/g;
const preference = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+)(?:[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;",]*))?/i;

/** The longest wait that is granted. A longer one is shortened to it, as RFC 7240 allows. */
const waitSecondsMax = 25;

/** The seconds granted for `Prefer: wait=N`. The first counts, and a bad one is ignored, as RFC 7240 §2 says. */
export function preferredWaitSeconds(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  for (const item of header.match(member) ?? []) {
    const [, name = '', value = ''] = preference.exec(item) ?? [];
    if (name.toLowerCase() !== 'wait') continue;
    const seconds = value.replace(/^"(.*)"$/, '$1');
    return /^\d+$/.test(seconds) ? Math.min(Number(seconds), waitSecondsMax) : undefined;
  }
  return undefined;
}

/** The start of a trace ID, which all requests of one millisecond share. */
let traceTime = { ms: 0, text: '' };

/** A UUID of version 7 (RFC 9562) begins with the time, so that requests of one moment are neighbors in the request log. */
export function createTraceId(): string {
  const ms = Date.now();
  if (ms !== traceTime.ms) traceTime = { ms, text: `${traceIdStart(ms)}-7` };
  return traceTime.text + randomUUID().slice(traceTime.text.length);
}
