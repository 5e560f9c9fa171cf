import { setTimeout as pause } from 'node:timers/promises';
import { ModelError } from '../../port/model.ts';
import { cutOff, toModelError } from './errors.ts';

export interface FetchBounds {
  /** How long the provider may send nothing, before its answer or within it. */
  readonly silenceMs: number;
  readonly answerBytesMax?: number;
  /** Without it, an event that never ends would be buffered as a whole. */
  readonly lineBytesMax?: number;
  /** Headers that continue the trace of a reply at the provider. */
  readonly traceHeaders?: (() => Record<string, string>) | undefined;
}

const mebibyte = 1024 * 1024;
/** An error response may repeat the whole request, or never end. Its beginning is enough. */
const refusalBytesMax = 65_536;
/** Some servers send no content type, or a generic one. A page or a complete JSON answer is not a stream. */
const streamType = /^\s*($|text\/event-stream|text\/plain|application\/octet-stream)/i;
/** The last event of an OpenAI-compatible stream. Within JSON no line starts like this. */
const lastEvent = /\ndata: ?\[DONE\]\r?\n/;
const lastEventBytesMax = 32;
/** How long the end of a stream may take after its last event. Some servers and proxies keep the connection open. */
const endMs = 500;

/**
 * `fetch` for a provider's streams. It returns a stream of events or an error response, or throws a `ModelError` or an error
 * of the network. Its time and size are limited, and it follows no redirects, so that the key is sent only to the configured
 * address.
 */
export function boundedFetch(bounds: FetchBounds): typeof fetch {
  return async (input, init) => {
    const silence = new AbortController();
    const stopped = new ModelError('The model stopped responding.', { transient: true });
    /** Waits for an operation, and aborts if it takes too long. The time between operations does not count. */
    const during = <T>(awaited: Promise<T>): Promise<T> => {
      const timer = setTimeout(() => silence.abort(stopped), bounds.silenceMs);
      return awaited.finally(() => clearTimeout(timer));
    };
    const signal = AbortSignal.any([silence.signal, ...(init?.signal ? [init.signal] : [])]);
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(bounds.traceHeaders?.() ?? {})) headers.set(name, value);
    const response = await during(fetch(input, { ...init, headers, signal, redirect: 'manual' }));
    const { body, ok, status } = response;
    if (status < 400 && !(ok && streamType.test(response.headers.get('content-type') ?? ''))) {
      await body?.cancel();
      const sentence = ok
        ? 'The provider did not answer with a stream of events.'
        : 'The provider redirects to another URL.';
      throw new ModelError(sentence, { transient: false });
    }
    const chunks = body && boundedChunks(body, ok, bounds, during);
    return new Response(chunks && ReadableStream.from(chunks), response);
  };
}

async function* boundedChunks(
  body: ReadableStream<Uint8Array>,
  ok: boolean,
  { answerBytesMax = 32 * mebibyte, lineBytesMax = mebibyte }: FetchBounds,
  during: <T>(awaited: Promise<T>) => Promise<T>,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  let lineBytes = 0;
  let latest = '';
  try {
    while (!lastEvent.test(latest)) {
      const { done, value } = await during(reader.read());
      if (done) return;
      const end = Buffer.from(value.subarray(-lastEventBytesMax)).toString('latin1');
      latest = (latest + end).slice(-lastEventBytesMax);
      const newline = value.lastIndexOf(10);
      bytes += value.length;
      lineBytes = newline === -1 ? lineBytes + value.length : value.length - newline - 1;
      if (bytes > answerBytesMax || lineBytes > lineBytesMax) {
        throw new ModelError('The provider sent more than a reply can hold.', { transient: false });
      }
      yield value;
      if (!ok && bytes >= refusalBytesMax) return;
    }
    // A connection that ends in time can be used again.
    await Promise.race([reader.read(), pause(endMs)]);
  } catch (error) {
    if (!ok) return;
    // A network error within a stream is a stream that was cut off, not a provider that cannot be reached.
    const failure = toModelError(error);
    throw failure.transient && failure !== error ? cutOff() : failure;
  } finally {
    reader.cancel().catch(() => {});
  }
}
