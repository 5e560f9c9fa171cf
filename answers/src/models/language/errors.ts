import { ModelError } from '../../port/model.ts';

const retryAfterMsMax = 600_000;

/** The provider rejected a request with tools: the model does not seem to support them. */
export class ToolRefusal extends ModelError {}

export function cutOff(): ModelError {
  return new ModelError('The stream of the model was cut off.', { transient: true });
}

/** Causes may be circular. */
const causesMax = 10;
const permanentErrors = /invalid_request|authentication|permission|not_found|too_large|quota|billing|credit/;

/**
 * Describes an error in our own words: messages of the SDK, the runtime and the provider may contain the prompt, the
 * URL or the key.
 */
export function toModelError(error: unknown): ModelError {
  let cause = error;
  for (let depth = 0; depth < causesMax && isObject(cause); depth++) {
    const known = knownError(cause);
    if (known !== undefined) return known;
    cause = cause.cause;
  }
  if (isObject(error) && !(error instanceof Error)) {
    // An event of the stream. The request was accepted, so the error is transient unless its type says otherwise.
    const transient = !permanentErrors.test(`${error.type} ${error.code}`);
    return new ModelError('The provider reported an error in its stream.', { transient });
  }
  const name = error instanceof Error && /^\w{1,60}$/.test(error.name) ? error.name : 'Error';
  return new ModelError(`The model failed (${name}).`, { transient: false });
}

/**
 * Whether the SDK failed at an event, block or delta of a type that it does not know. Anthropic may add types, and clients
 * have to ignore those that they do not know.
 */
export function hasUnknownType(error: unknown): boolean {
  const { value, cause } = isObject(error) ? error : {};
  if (!isObject(value) || typeof value.type !== 'string' || !isObject(cause)) return false;
  const issues = Array.isArray(cause.issues) ? cause.issues : [];
  return issues.length > 0 && issues.every(({ discriminator }) => discriminator === 'type');
}

/** `Retry-After`, in seconds or as a date (RFC 9110 §10.2.3), or the more exact `retry-after-ms` of some providers. */
export function parseRetryAfterMs(headers: Headers, now: number): number | undefined {
  const exact = headers.get('retry-after-ms') ?? '';
  const plain = headers.get('retry-after') ?? '';
  // Only a date has a colon. One in ISO 8601 also starts with a number.
  const delay = plain.includes(':') ? Date.parse(plain) - now : Number.parseFloat(plain) * 1_000;
  const wait = [Number.parseFloat(exact), delay].find((each) => Number.isFinite(each));
  return wait === undefined ? undefined : Math.ceil(Math.min(Math.max(wait, 0), retryAfterMsMax));
}

const statusesOfRefusedTools = new Set([400, 404, 422, 501]);
const aboutTools = /\btools?(?:\b|_)|\bfunctions?\b/i;

/** Errors of the system, such as ECONNREFUSED, of its resolver, and of the HTTP client. */
const unreachable = /^(?:E[A-Z]+|EAI_[A-Z]+|UND_ERR_(?:SOCKET|[A-Z]+_TIMEOUT))$/;

/** Failures that another attempt would not change, by the name and the code of the error. */
const permanentFailures = {
  'The provider answered with a malformed stream.':
    /^AI_(?:InvalidResponseData|JSONParse|TypeValidation|EmptyResponseBody)Error |^HTTPParserError /,
  'The provider’s certificate is not trusted.': / (?:\w*CERT|ERR_TLS|UNABLE_TO_|\w*HOSTNAME_MISMATCH)/,
  // The other side does not speak TLS, or no version of it that this machine accepts.
  'No TLS connection to the provider could be established.': / (?:ERR_SSL|EPROTO$)/,
};

/** Errors of the SDK have a name, those of the network and the HTTP parser a code, events of a stream may have a status. */
function knownError(error: Record<string, unknown>): ModelError | undefined {
  if (error instanceof ModelError) return error;
  const { name, code, statusCode, data, responseHeaders, responseBody } = error;
  const status = [statusCode, code].map(Number).find((each) => each >= 400 && each < 600);
  if (status !== undefined) {
    const headers = new Headers(responseHeaders as Record<string, string> | undefined);
    const transient = [408, 409, 425, 429].includes(status) || status >= 500;
    const isAboutTools = statusesOfRefusedTools.has(status) && aboutTools.test(String(responseBody));
    const Refusal = isAboutTools ? ToolRefusal : ModelError;
    const retryAfterMs = parseRetryAfterMs(headers, Date.now());
    return new Refusal(`The provider answered ${status}.`, { transient, retryAfterMs });
  }
  // With data, the error is about an invalid tool call. Without data, the stream ended too soon.
  if (name === 'AI_InvalidResponseDataError' && data === undefined) return cutOff();
  for (const [sentence, pattern] of Object.entries(permanentFailures)) {
    if (pattern.test(`${name} ${code}`)) return new ModelError(sentence, { transient: false });
  }
  // An event of the stream may have any code.
  if (error instanceof Error && unreachable.test(String(code))) {
    return new ModelError(`The provider could not be reached (${code}).`, { transient: true });
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
