import assert from 'node:assert/strict';
import { statusOfCode } from '../conformance.ts';
import type { ConsoleAnswer } from './console-client.ts';

/**
 * Fails unless the response has the envelope and code of the public interface, and no challenge that makes browsers
 * prompt.
 */
export function assertRefused(
  { status, headers, body }: ConsoleAnswer,
  code: keyof typeof statusOfCode,
  what?: string,
): void {
  assert.equal(body?.error?.code, code, `${what ?? ''} ${JSON.stringify(body)}`);
  assert.equal(status, statusOfCode[code], what);
  assert.equal(body.error.trace_id, headers.get('x-request-id'), what);
  assert.equal(headers.get('www-authenticate'), null, what);
}
