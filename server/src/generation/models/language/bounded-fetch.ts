import { setTimeout as pause } from 'node:timers/promises';
import { ModelError } from '../../model.ts';
import { cutOff, modelErrorOf, ProviderRefusal, retryAfterMsOf } from './errors.ts';

export interface FetchBounds {
  /** How long the provider may send nothing, before its answer or within it. */
  readonly silenceMs: number;
  readonly answerBytesMax: number;
  /** Without it, an event that never ends would be buffered as a whole. */
  readonly lineBytesMax: number;
  readonly now: () => number;
  readonly traceHeaders?: (() => Record<string, string>) | undefined;
}

const refusalLengthMax = 65_536;
const statusesOfRefusedTools = new Set([400, 404, 422, 501]);
/** The last event of an OpenAI-compatible stream. Within JSON no line starts like this. */
const lastEvent = /\ndata: ?\[DONE\]\r?\n/;
const lastEventBytesMax = 32;
/** How long the end of a stream may take after its last event. Some servers and proxies keep the connection open. */
const endMs = 500;
const noMore = { done: true, value: undefined } as const;

/**
 * `fetch` for a provider's streams. It returns a stream of events or throws a `ModelError`. Its time and size are limited,
 * and it follows no redirects, so that the key is sent only to the configured address.
 */
export function boundedFetch(bounds: FetchBounds): typeof fetch {
  return async (input, init) => {
    const silence = new AbortController();
    const stopped = new ModelError('The model stopped responding.', { transient: true });
    const during: During = (awaited) => {
      const timer = setTimeout(() => silence.abort(stopped), bounds.silenceMs);
      return awaited.finally(() => clearTimeout(timer));
    };
    const signal = AbortSignal.any([silence.signal, ...(init?.signal ? [init.signal] : [])]);
    try {
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(bounds.traceHeaders?.() ?? {})) headers.set(name, value);
      const response = await during(fetch(input, { ...init, headers, signal, redirect: 'manual' }));
      await assertEventStream(response, bounds, during);
      const { body } = response;
      return new Response(body && ReadableStream.from(boundedChunks(body, bounds, during)), response);
    } catch (error) {
      throw modelErrorOf(error);
    }
  };
}

/** Waits for an operation, and aborts if it takes too long. The time between operations does not count. */
type During = <T>(awaited: Promise<T>) => Promise<T>;

async function assertEventStream(response: Response, bounds: FetchBounds, during: During) {
  const { ok, status, headers } = response;
  // Some servers send no content type, or a generic one. A page or a complete JSON answer is not a stream.
  const type = headers.get('content-type') ?? '';
  if (ok && /^\s*($|text\/event-stream|text\/plain|application\/octet-stream)/i.test(type)) return;
  if (ok || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    const sentence = ok
      ? 'The provider did not answer with a stream of events.'
      : 'The provider redirects to another address.';
    throw new ModelError(sentence, { transient: false });
  }
  const text = await startOf(response, bounds, during);
  const refusesTools = statusesOfRefusedTools.has(status) && /\btools?(?:\b|_)|\bfunctions?\b/i.test(text);
  throw new ProviderRefusal(status, retryAfterMsOf(headers, bounds.now()), refusesTools);
}

/** The start of a refusal, or as much of it as arrives. It may repeat the whole request. */
async function startOf({ body }: Response, bounds: FetchBounds, during: During): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const bytes of body ? boundedChunks(body, bounds, during) : []) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length >= refusalLengthMax) break;
    }
  } catch {}
  return text;
}

async function* boundedChunks(
  body: ReadableStream<Uint8Array>,
  { answerBytesMax, lineBytesMax }: FetchBounds,
  during: During,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let answerBytes = 0;
  let lineBytes = 0;
  let latest = '';
  try {
    for (;;) {
      const next = reader.read();
      const hasEnded = lastEvent.test(latest);
      const { done, value } = await (hasEnded ? Promise.race([next, pause(endMs, noMore)]) : during(next));
      if (done) return;
      const end = Buffer.from(value.subarray(-lastEventBytesMax)).toString('latin1');
      latest = (latest + end).slice(-lastEventBytesMax);
      const newline = value.lastIndexOf(10);
      answerBytes += value.length;
      lineBytes = newline === -1 ? lineBytes + value.length : value.length - newline - 1;
      if (answerBytes > answerBytesMax || lineBytes > lineBytesMax) {
        throw new ModelError('The provider sent more than a reply can hold.', { transient: false });
      }
      yield value;
    }
  } catch (error) {
    throw streamErrorOf(error);
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** A network error within a stream is a stream that was cut off, not a provider that cannot be reached. */
function streamErrorOf(error: unknown): ModelError {
  const failure = modelErrorOf(error);
  return failure.transient && failure !== error ? cutOff() : failure;
}
