import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4StreamPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import type { ConversationTurn } from '../../../domain/conversation.ts';
import { ModelError } from '../../model.ts';
import { cutOff, modelErrorOf } from './errors.ts';
import { type ModelText, TaggedReasoning } from './tagged-reasoning.ts';

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

const searchTool: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'searchDocuments',
  description: 'Searches the documents of the organization. Answers with further numbered passages.',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', description: 'Words that the answer is likely to contain' } },
    required: ['query'],
    additionalProperties: false,
  },
};

interface Conversation {
  readonly instructions: string;
  readonly messages: readonly ConversationTurn[];
  readonly abortSignal: AbortSignal;
  /** If undefined, the model has no tool. */
  readonly search: ((query: string) => Promise<string>) | undefined;
}

export type ModelPart =
  | ModelText
  /** The text that follows is the answer to another request. */
  | { readonly type: 'searched' }
  | { readonly type: 'finish'; readonly reason: string };

/** The part of the SDK that drafts use, for one model. */
export interface LanguageSdk {
  /** Throws a `ModelError` if the provider fails, and the error of `search` if that fails. */
  stream(conversation: Conversation): AsyncGenerator<ModelPart>;
}

/**
 * Loads the provider's package with the first draft. A draft calls the model directly and runs its searches itself: the
 * loop of the `ai` package would hold 70 kB of streams while it waits for the provider.
 */
export async function loadSdk(
  options: ProviderOptions,
  fetch: typeof globalThis.fetch,
): Promise<LanguageSdk> {
  const model = await modelOf(options, fetch);
  return {
    async *stream({ instructions, messages, abortSignal, search }) {
      const prompt: LanguageModelV4Prompt = [
        { role: 'system', content: instructions },
        ...messages.map(({ role, content }) => ({
          role,
          content: [{ type: 'text' as const, text: content }],
        })),
      ];
      for (let requests = 1; ; requests++) {
        const mayCall = requests < requestsMax;
        const answer = new Answer();
        yield* answer.read(() =>
          model.doStream({
            prompt,
            abortSignal,
            ...(search && { tools: [searchTool], toolChoice: { type: mayCall ? 'auto' : 'none' } }),
          }),
        );
        if (answer.calls.length === 0) return;
        if (search === undefined || !mayCall) {
          throw new ModelError('The model searched although it had to answer.', { transient: true });
        }
        prompt.push({ role: 'assistant', content: answer.content() });
        for (const { toolCallId, toolName, input } of answer.calls) {
          const output = { type: 'text' as const, value: await resultOf(input, search) };
          prompt.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] });
        }
        yield { type: 'searched' };
      }
    },
  };
}

async function resultOf(input: string, search: (query: string) => Promise<string>): Promise<string> {
  const query = parsed(input)?.query;
  return typeof query === 'string' ? search(query) : 'The query is missing.';
}

function parsed(json: string): { query?: unknown } | null {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/** The answer to one request, as it arrives. */
class Answer {
  readonly calls: LanguageModelV4ToolCall[] = [];
  readonly #blocks = new Map<string, LanguageModelV4TextPart | LanguageModelV4ReasoningPart>();

  async *read(request: () => ReturnType<LanguageModelV4['doStream']>): AsyncGenerator<ModelPart> {
    try {
      const tagged = new TaggedReasoning();
      const { stream } = await request();
      for await (const part of stream) {
        if (part.type !== 'finish') yield* this.#take(part, tagged);
        else if (part.finishReason.raw === undefined) break;
        else {
          yield* tagged.end();
          if (this.calls.length === 0) yield { type: 'finish', reason: part.finishReason.unified };
          return;
        }
      }
      throw cutOff();
    } catch (error) {
      throw modelErrorOf(error);
    }
  }

  /** What the next request has to repeat. Providers reject empty texts, but reasoning may consist of its signature only. */
  content() {
    const said = [...this.#blocks.values()].filter(
      ({ type, text, providerOptions }) =>
        text !== '' || (type === 'reasoning' && providerOptions !== undefined),
    );
    const calls = this.calls.map(({ type, toolCallId, toolName, input, providerMetadata }) => ({
      ...{ type, toolCallId, toolName, input: parsed(input) ?? {} },
      ...(providerMetadata && { providerOptions: providerMetadata }),
    }));
    return [...said, ...calls];
  }

  *#take(part: LanguageModelV4StreamPart, tagged: TaggedReasoning): Generator<ModelPart> {
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      this.#blocks.set(part.id, { type: part.type === 'text-start' ? 'text' : 'reasoning', text: '' });
    }
    const block = 'id' in part && part.id !== undefined ? this.#blocks.get(part.id) : undefined;
    // Providers sign their reasoning, in any part of it, and require the signature in the next request.
    if (block !== undefined && 'providerMetadata' in part && part.providerMetadata !== undefined) {
      block.providerOptions = { ...block.providerOptions, ...part.providerMetadata };
    }
    switch (part.type) {
      case 'text-delta':
        block!.text += part.delta;
        return yield* tagged.take(part.delta);
      case 'reasoning-delta':
        block!.text += part.delta;
        return yield { type: 'reasoning', text: part.delta };
      case 'reasoning-end':
        return yield { type: 'reasoning-end' };
      case 'tool-call':
        this.calls.push(part);
        return;
      case 'error':
        throw part.error;
    }
  }
}

async function modelOf(
  { provider, model, baseUrl, apiKey }: ProviderOptions,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModelV4> {
  // Every setting is given, because the SDK takes missing ones from the environment.
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: baseUrl ?? anthropicBaseUrl, apiKey: apiKey ?? '', fetch })(model);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    name: 'provider',
    baseURL: baseUrl ?? '',
    fetch,
    ...(apiKey !== undefined && { apiKey }),
  })(model);
}
