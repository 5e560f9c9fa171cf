import { loadOnce } from '../../../runtime/src/pure/load-once.ts';
import { untilAborted } from '../../../runtime/src/until-aborted.ts';
import type { Drafter, PassageSearch, ReplyRequest } from '../port/model.ts';
import { boundedFetch, type FetchBounds } from './language/bounded-fetch.ts';
import { draftEvents, limitCalls } from './language/draft.ts';
import { ToolRefusal } from './language/errors.ts';
import { passageSearches } from './language/passage-searches.ts';

export interface LanguageModelOptions extends Pick<FetchBounds, 'silenceMs' | 'traceHeaders'> {
  readonly provider: 'openai-compatible' | 'anthropic';
  /** The provider's name for it. */
  readonly model: string;
  /** The URL of an OpenAI-compatible provider, with its version: `http://127.0.0.1:11434/v1`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Shown as the message's `model`. */
  readonly name: string;
  readonly library: PassageSearch;
  readonly replyLengthMax: number;
}

/**
 * A language model behind a provider's API. It is given passages for the prompt, and may search for more. It does not
 * retry: the worker does, and its retries survive a restart.
 */
export function languageModel(options: LanguageModelOptions): Drafter {
  const load = loadOnce(() => loadModel(options));
  /** False once the provider answered without tools a request that it refused with them. */
  let supportsTools = true;

  async function* draft(asked: ReplyRequest) {
    const ended = new AbortController();
    const request = { ...asked, signal: AbortSignal.any([asked.signal, ended.signal]) };
    try {
      const searches = passageSearches(options.library, request, options.apiKey);
      const hasDocuments = yield* searches.first();
      const draft = { ...options, request, searches, model: await load() };
      const withTools = hasDocuments && supportsTools;
      let hasStarted = false;
      try {
        for await (const event of draftEvents(draft, withTools)) {
          hasStarted = true;
          yield event;
        }
      } catch (error) {
        if (!withTools || hasStarted || !(error instanceof ToolRefusal)) throw error;
        yield* draftEvents(draft, false);
        supportsTools = false;
      }
    } finally {
      // Closes the connection, if it is still open.
      ended.abort(new Error('The draft has ended.'));
    }
  }

  return { name: options.name, draft: (request) => untilAborted(draft(request), request.signal) };
}

/** Loads the provider's package with the first draft. */
async function loadModel(options: LanguageModelOptions) {
  const { provider, model, baseUrl, apiKey = '' } = options;
  // Every setting is given, because the SDK takes missing ones from the environment.
  const settings = { apiKey, fetch: boundedFetch(options) };
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: baseUrl ?? 'https://api.anthropic.com/v1', ...settings })(model);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const createStreamExtractor = () => ({ processChunk: limitCalls, buildMetadata: () => undefined });
  const metadataExtractor = { extractMetadata: async () => undefined, createStreamExtractor };
  const named = { name: 'provider', baseURL: baseUrl ?? '', metadataExtractor, ...settings };
  return createOpenAICompatible(named)(model);
}
