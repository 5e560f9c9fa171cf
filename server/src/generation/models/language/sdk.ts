import type { LanguageModel, ModelMessage, TextStreamPart, ToolSet } from 'ai';

export interface ProviderOptions {
  readonly provider: 'openai-compatible' | 'anthropic';
  /** The provider's name for it. */
  readonly model: string;
  /** The address of an OpenAI-compatible provider, with its version: `http://127.0.0.1:11434/v1`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Requests per draft. Each search leads to another request, and the last one must be an answer. */
const requestsMax = 5;
const anthropicBaseUrl = 'https://api.anthropic.com/v1';

const description = 'Searches the documents of the organization. Answers with further numbered passages.';

interface Conversation {
  readonly instructions: string;
  readonly messages: ModelMessage[];
  readonly abortSignal: AbortSignal;
  /** If undefined, the model has no tool. */
  readonly search: ((query: string) => Promise<string>) | undefined;
}

/** The part of the SDK that drafts use, for one model. */
export interface LanguageSdk {
  stream(conversation: Conversation): ReadableStream<TextStreamPart<ToolSet>>;
}

/**
 * Loads the SDK with the first draft, because it takes 0.1 to 0.25 s. A draft that waits for its first byte holds about
 * 110 KB, and one that receives text 200 KB, nearly all of it in the SDK's chain of streams (measured with 2,000 and 500
 * drafts at once; the request alone holds 24 KB).
 */
export async function loadSdk(
  options: ProviderOptions,
  fetch: typeof globalThis.fetch,
): Promise<LanguageSdk> {
  const sdk = await import('ai');
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { z } = await import('zod');
  const model = await modelOf(sdk, options, fetch);
  const inputSchema = z.object({
    query: z.string().describe('Words that the answer is likely to contain'),
  });
  return {
    stream: ({ instructions, messages, abortSignal, search }) =>
      sdk.streamText({
        model,
        instructions,
        messages,
        abortSignal,
        ...(search && {
          tools: {
            searchDocuments: sdk.tool({ description, inputSchema, execute: ({ query }) => search(query) }),
          },
        }),
        stopWhen: sdk.isStepCount(requestsMax),
        prepareStep: ({ stepNumber }) =>
          search && stepNumber === requestsMax - 1 ? { toolChoice: 'none' } : undefined,
        maxRetries: 0,
        telemetry: { isEnabled: false },
        // Errors are parts of the stream. By default, the SDK also prints them.
        onError: () => {},
      }).stream,
  };
}

async function modelOf(
  sdk: typeof import('ai'),
  { provider, model, baseUrl, apiKey }: ProviderOptions,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModel> {
  // Every setting is given, because the SDK takes missing ones from the environment.
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: baseUrl ?? anthropicBaseUrl, apiKey: apiKey ?? '', fetch })(model);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const plain = createOpenAICompatible({
    name: 'provider',
    baseURL: baseUrl ?? '',
    fetch,
    ...(apiKey !== undefined && { apiKey }),
  })(model);
  // Many local servers leave a model's reasoning in its text, between tags at the start.
  return sdk.wrapLanguageModel({
    model: plain,
    middleware: sdk.extractReasoningMiddleware({ tagName: 'think' }),
  });
}
