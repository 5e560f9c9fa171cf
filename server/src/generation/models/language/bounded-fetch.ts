import { setTimeout as pause } from 'node:timers/promises';
import { ModelError } from '../../model.ts';
import { cutOff, modelErrorOf } from './errors.ts';

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
const refusalBytesMax = 65_536;
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
    const during: During = (awaited) => {
      const timer = setTimeout(() => silence.abort(stopped), bounds.silenceMs);
      return awaited.finally(() => clearTimeout(timer));
    };
    const signal = AbortSignal.any([silence.signal, ...(init?.signal ? [init.signal] : [])]);
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(bounds.traceHeaders?.() ?? {})) headers.set(name, value);
    const response = await during(fetch(input, { ...init, headers, signal, redirect: 'manual' }));
    const { body, ok, status } = response;
    if (status < 400 && !isEventStream(response)) {
      await body?.cancel();
      const sentence = ok
        ? 'The provider did not answer with a stream of events.'
        : 'The provider redirects to another address.';
      throw new ModelError(sentence, { transient: false });
    }
    const chunks = body && boundedChunks(body, bounds, during);
    return new Response(chunks && ReadableStream.from(ok ? chunks : beginningOf(chunks)), response);
  };
}

type During = <T>(awaited: Promise<T>) => Promise<T>;

/** Some servers send no content type, or a generic one. A page or a complete JSON answer is not a stream. */
function isEventStream({ ok, headers }: Response): boolean {
  const type = headers.get('content-type') ?? '';
  return ok && /^\s*($|text\/event-stream|text\/plain|application\/octet-stream)/i.test(type);
}

/** The beginning of an error response, as far as it arrives. It may repeat the whole request, or never end. */
async function* beginningOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      yield chunk;
      bytes += chunk.length;
      if (bytes >= refusalBytesMax) return;
    }
  } catch {}
}

async function* boundedChunks(
  body: ReadableStream<Uint8Array>,
  { answerBytesMax = 32 * mebibyte, lineBytesMax = mebibyte }: FetchBounds,
  during: During,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let answerBytes = 0;
  let lineBytes = 0;
  let latest = '';
  try {
    while (!lastEvent.test(latest)) {
      const { done, value } = await during(reader.read());
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
    // A connection that ends in time can be used again.
    await Promise.race([reader.read(), pause(endMs)]);
  } catch (error) {
    // A network error within a stream is a stream that was cut off, not a provider that cannot be reached.
    const failure = modelErrorOf(error);
    throw failure.transient && failure !== error ? cutOff() : failure;
  } finally {
    reader.cancel().catch(() => {});
  }
}
