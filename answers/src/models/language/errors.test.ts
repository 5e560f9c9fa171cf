import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ModelError } from '../../port/model.ts';
import { parseRetryAfterMs, toModelError } from './errors.ts';

const secret = 'sk-secret-0123456789';

function withCode(code: string, message = secret): Error {
  return Object.assign(new Error(message), { code });
}

/** As the runtime and the SDK wrap them. */
function wrapped(cause: unknown): Error {
  return new Error(secret, { cause: new TypeError('fetch failed', { cause }) });
}

function assertKind(error: unknown, transient: boolean): void {
  const sorted = toModelError(error);
  assert.equal(sorted.transient, transient, sorted.message);
  assert.ok(!`${sorted.stack}${JSON.stringify(sorted)}`.includes(secret), sorted.message);
  assert.equal(sorted.cause, undefined);
}

describe('a model error', () => {
  it('is transient after a network error', () => {
    for (const code of [
      'ECONNREFUSED',
      'ECONNRESET',
      'ENOTFOUND',
      'EAI_AGAIN',
      'ETIMEDOUT',
      'UND_ERR_SOCKET',
    ]) {
      assertKind(withCode(code), true);
      assertKind(wrapped(withCode(code)), true);
    }
  });

  it('is permanent for an untrusted certificate, invalid HTTP and unknown errors', () => {
    for (const code of [
      'CERT_HAS_EXPIRED',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'EPROTO',
    ]) {
      assertKind(wrapped(withCode(code)), false);
    }
    for (const error of [
      withCode('HPE_INVALID_CONSTANT'),
      withCode('UND_ERR_INVALID_ARG'),
      withCode(`EAI_${secret}`),
      new TypeError(secret),
      secret,
      undefined,
      null,
      7,
    ]) {
      assertKind(error, false);
    }
  });

  it('in a stream is classified by its status or type', () => {
    assertKind({ message: secret, code: 429 }, true);
    assertKind({ message: secret, code: '401' }, false);
    assertKind({ message: secret, statusCode: 529 }, true);
    assertKind({ message: secret, type: 'server_error' }, true);
    assertKind({ message: secret, type: 'invalid_request_error' }, false);
    assertKind({ message: secret, code: 'insufficient_quota' }, false);
    assertKind({ message: secret, type: 'authentication_error', code: 'EXPIRED' }, false);
  });

  it('tells a certificate that is not trusted from a server without TLS', () => {
    const describeError = (code: string) => toModelError(wrapped(withCode(code))).message;
    assert.match(describeError('DEPTH_ZERO_SELF_SIGNED_CERT'), /certificate/);
    for (const code of ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER'])
      assert.match(describeError(code), /^No TLS/);
  });

  it('shows the name of an unknown error only if it is a plain word', () => {
    assert.equal(toModelError(new RangeError(secret)).message, 'The model failed (RangeError).');
    const odd = Object.assign(new Error(), { name: `key ${secret}` });
    assert.equal(toModelError(odd).message, 'The model failed (Error).');
  });

  it('is not wrapped again', () => {
    const error = new ModelError('Known.', { transient: true, retryAfterMs: 5 });
    assert.equal(toModelError(error), error);
    assert.equal(toModelError(wrapped(error)), error);
  });

  it('handles circular causes', () => {
    const error = new Error(secret);
    error.cause = error;
    assertKind(error, false);
  });
});

describe('the delay that a provider requests', () => {
  const now = Date.UTC(2026, 0, 1);
  const wait = (headers: Record<string, string>) => parseRetryAfterMs(new Headers(headers), now);

  it('is read in seconds, as a date or in milliseconds', () => {
    assert.equal(wait({ 'retry-after': '3' }), 3_000);
    assert.equal(wait({ 'retry-after': '1.5' }), 1_500);
    assert.equal(wait({ 'retry-after': '10s' }), 10_000);
    assert.equal(wait({ 'retry-after': new Date(now + 4_000).toUTCString() }), 4_000);
    assert.equal(wait({ 'retry-after': new Date(now + 4_000).toISOString() }), 4_000);
    assert.equal(wait({ 'retry-after': '3', 'retry-after-ms': '2500.5' }), 2_501);
  });

  it('is between zero and ten minutes', () => {
    assert.equal(wait({ 'retry-after': '999999999' }), 600_000);
    assert.equal(wait({ 'retry-after': new Date(now - 4_000).toUTCString() }), 0);
    assert.equal(wait({ 'retry-after': '0' }), 0);
  });

  it('is undefined if the header is missing or invalid', () => {
    for (const value of ['', 'soon', 'soon 5', '-', 'Infinity', 'NaN'])
      assert.equal(wait({ 'retry-after': value }), undefined);
    assert.equal(wait({}), undefined);
  });
});
