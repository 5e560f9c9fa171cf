import assert from 'node:assert/strict';
import { statusOfCode } from '../http/conformance.ts';
import type { ConsoleResponse } from './console-client.ts';

/**
 * Fails unless the response has the envelope and code of the public API, and no challenge that makes browsers
 * prompt.
 */
export function assertRefused(
  { status, headers, body }: ConsoleResponse,
  code: keyof typeof statusOfCode,
  what?: string,
): void {
  assert.equal(body?.error?.code, code, `${what ?? ''} ${JSON.stringify(body)}`);
  assert.equal(status, statusOfCode[code], what);
  assert.equal(body.error.trace_id, headers.get('x-request-id'), what);
  assert.equal(headers.get('www-authenticate'), null, what);
  assertRetryAfter({ status, headers });
}

/** A 429 says how many seconds to wait (RFC 6585 §4). No other error does. */
export function assertRetryAfter({ status, headers }: Pick<ConsoleResponse, 'status' | 'headers'>): void {
  const seconds = headers.get('retry-after') ?? '';
  if (status === 429) assert.match(seconds, /^[1-9]\d*$/);
  else assert.equal(seconds, '');
}
