import type { IncomingHttpHeaders } from 'node:http';

/** Longer than clients send. These headers may be ignored; `content-type` is then reported as missing. */
const parsedLengthMax = 256;
/** The service and its libraries parse each of these, before or after the caller is admitted. */
const parsedHeaders = [
  'accept-encoding',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-range',
  'if-unmodified-since',
  'prefer',
  'range',
] as const;

/** More proxies than a request passes. The nearest ones are named last. */
const proxiesMax = 16;

/**
 * Removes what would take long to parse, before anything reads it. Headers may have 16 KB: `Range` took 5 ms, and
 * `Content-Type` 400 ms. The cost of the other headers that are read is bounded where they are read.
 */
export function boundHeaders(headers: IncomingHttpHeaders): void {
  for (const name of parsedHeaders) {
    const value = headers[name];
    if (value !== undefined && value.length > parsedLengthMax) delete headers[name];
  }
  const forwarded = headers['x-forwarded-for'];
  if (forwarded !== undefined) headers['x-forwarded-for'] = lastMembers(String(forwarded), proxiesMax);
}

function lastMembers(list: string, amount: number): string {
  let start = list.length;
  for (let count = 0; count < amount && start > 0; count += 1) start = list.lastIndexOf(',', start - 1);
  return start > 0 ? list.slice(start + 1) : list;
}
