import { ModelError } from '../../model.ts';
import { cutOff, modelErrorOf, ProviderRefusal, retryAfterMsOf } from './errors.ts';

export interface FetchBounds {
  /** How long the provider may send nothing: before its answer, or within it. */
  readonly silenceMs: number;
  readonly answerBytesMax: number;
  /** Of a line: an event without an end would otherwise be gathered whole. */
  readonly lineBytesMax: number;
  readonly now: () => number;
}

/**
 * `fetch` for the streams of a provider: it answers with a stream of events, or throws a `ModelError`. Time and size
 * are bounded, and the key goes nowhere but to the address it was given for. Aborted, it throws the signal's reason.
 */
export function boundedFetch(bounds: FetchBounds): typeof fetch {
  return async (input, init) => {
    const watch = new SilenceWatch(bounds.silenceMs);
    const signals = [watch.signal, ...(init?.signal ? [init.signal] : [])];
    try {
      const response = await watch.during(
        fetch(input, { ...init, signal: AbortSignal.any(signals), redirect: 'manual' }),
      );
      await refuseOtherAnswers(response, bounds, watch);
      return new Response(response.body && boundedBody(response.body, bounds, watch, init?.signal), response);
    } catch (error) {
      throw init?.signal?.aborted ? init.signal.reason : modelErrorOf(error);
    }
  };
}

/** Aborts when what it waits for takes too long. Time in which nothing is awaited does not count. */
class SilenceWatch {
  readonly #abort = new AbortController();
  readonly #silenceMs: number;

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  async during<T>(awaited: Promise<T>): Promise<T> {
    const silence = setTimeout(
      () => this.#abort.abort(new ModelError('The model fell silent.', { transient: true })),
      this.#silenceMs,
    );
    try {
      return await awaited;
    } finally {
      clearTimeout(silence);
    }
  }
}

/** A connection that breaks now was there before. */
function failureOfStream(error: unknown): ModelError {
  const failure = modelErrorOf(error);
  return failure.transient && failure !== error ? cutOff() : failure;
}

async function refuseOtherAnswers(response: Response, bounds: FetchBounds, watch: SilenceWatch) {
  if (response.ok && isEventStream(response)) return;
  const { status } = response;
  if (response.ok || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    const sentence = response.ok
      ? 'The provider answered with something else than a stream of events.'
      : 'The provider redirects to another address.';
    throw new ModelError(sentence, { transient: false });
  }
  throw new ProviderRefusal(status, {
    retryAfterMs: retryAfterMsOf(response.headers, bounds.now()),
    namesTools: /\btools?\b|\btool_|\bfunctions?\b/i.test(await beginningOf(response, watch)),
  });
}

/** Some servers name no type, or a general one; a page or a whole answer in one piece is none. */
function isEventStream(response: Response): boolean {
  const type = response.headers.get('content-type') ?? '';
  return /^\s*($|text\/event-stream|text\/plain|application\/octet-stream)/i.test(type);
}

const refusalBytesMax = 65_536;

/** The reason that comes with a refusal; the refusal stands when its reason does not arrive. */
async function beginningOf(response: Response, watch: SilenceWatch): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  const reader = response.body?.getReader();
  try {
    while (reader !== undefined && text.length < refusalBytesMax) {
      const { done, value } = await watch.during(reader.read());
      if (done) return text;
      text += decoder.decode(value, { stream: true });
    }
    await reader?.cancel();
  } catch {}
  return text;
}

function boundedBody(
  body: ReadableStream<Uint8Array>,
  bounds: FetchBounds,
  watch: SilenceWatch,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const size = new AnswerSize(bounds);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await watch.during(reader.read());
        if (done) return controller.close();
        size.add(value);
        controller.enqueue(value);
      } catch (error) {
        controller.error(signal?.aborted ? signal.reason : failureOfStream(error));
        reader.cancel().catch(() => {});
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

class AnswerSize {
  readonly #bounds: FetchBounds;
  #answerBytes = 0;
  #lineBytes = 0;

  constructor(bounds: FetchBounds) {
    this.#bounds = bounds;
  }

  add(chunk: Uint8Array): void {
    const newline = chunk.lastIndexOf(10);
    this.#answerBytes += chunk.length;
    this.#lineBytes = newline === -1 ? this.#lineBytes + chunk.length : chunk.length - newline - 1;
    if (this.#answerBytes > this.#bounds.answerBytesMax || this.#lineBytes > this.#bounds.lineBytesMax) {
      throw new ModelError('The provider answered with more than a reply can hold.', { transient: false });
    }
  }
}
