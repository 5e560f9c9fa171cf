import type { IncomingMessage } from 'node:http';

/** Why a request is ambiguous: a proxy and this server could read it differently (RFC 9112 §3.2, §6.1). */
export function ambiguityOf({ headers, httpVersion }: IncomingMessage): string | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  // Node also accepts 0.9 and 2.0.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'Unsupported HTTP version. Use HTTP/1.1.';
  // `joinDuplicateHeaders` joins two hosts with `, `, which no host contains.
  if (host === undefined ? httpVersion === '1.1' : host.includes(', '))
    return 'Send exactly one Host header.';
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return 'Unsupported Transfer-Encoding. Only chunked, over HTTP/1.1, is supported.';
  }
  return undefined;
}
