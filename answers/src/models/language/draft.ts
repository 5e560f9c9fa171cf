import { setImmediate as turn } from 'node:timers/promises';
import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import { orUndefined } from '../../../../runtime/src/pure/or-undefined.ts';
import { type DraftEvent, ModelError, type ReplyRequest } from '../../port/model.ts';
import { cutOff, hasUnknownType, toModelError } from './errors.ts';
import type { PassageSearches } from './passage-searches.ts';
import { instructionsFor, messagesFor } from './prompt.ts';
import { type DraftText, draftText, endOfReasoning, TaggedReasoning } from './text-streams.ts';

/** Requests per draft. Each search leads to another request, and the last one must be an answer. */
const requestsMax = 5;
/** Tool calls per answer, and their characters together: all of them are sent back with the next request. */
const callsMax = 32;
const callsLengthMax = 20_000;
/** How long a burst of small pieces may block the event loop. */
const stretchMs = 5;

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

interface DraftSetting {
  readonly model: LanguageModelV4;
  /** Its signal also aborts when the reader stops reading. */
  readonly request: ReplyRequest;
  readonly searches: PassageSearches;
  readonly apiKey?: string | undefined;
  readonly replyLengthMax: number;
}

/**
 * One conversation with the provider: up to five requests, with searches between them. It calls the model directly: the
 * loop of the `ai` package would hold 70 kB of streams while it waits for the provider.
 */
export async function* draftEvents(setting: DraftSetting, withTools: boolean): AsyncGenerator<DraftEvent> {
  const { model, request, searches } = setting;
  const text = draftText(setting.apiKey, setting.replyLengthMax);
  const prompt: LanguageModelV4Prompt = [
    { role: 'system', content: instructionsFor(searches.passages, withTools) },
    ...messagesFor(request.conversation).map(({ role, content }) => ({
      role,
      content: [{ type: 'text' as const, text: content }],
    })),
  ];
  for (let requests = 1; ; requests++) {
    const mayCall = requests < requestsMax;
    const toolChoice = { type: mayCall ? 'auto' : 'none' } as const;
    const tools = withTools ? { tools: [searchTool], toolChoice } : {};
    const answering = model.doStream({ prompt, abortSignal: request.signal, ...tools });
    const { texts, calls, finishReason } = yield* readAnswer(answering, text);
    if (calls.length === 0) return yield* text.finish(finishReason);
    if (!withTools || !mayCall) {
      throw new ModelError('The model searched when it had to answer.', { transient: true });
    }
    prompt.push({ role: 'assistant', content: [...texts, ...calls] });
    for (const { toolCallId, toolName, input } of calls) {
      const { query } = input;
      const value = typeof query === 'string' ? yield* searches.further(query) : 'The query is missing.';
      const output = { type: 'text' as const, value };
      prompt.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] });
    }
    text.startParagraph();
  }
}

/** Passes on the answer to a request as it arrives, and returns what the next request has to repeat. */
async function* readAnswer(answering: ReturnType<LanguageModelV4['doStream']>, text: DraftText) {
  const calls: ReturnType<typeof repeatedCall>[] = [];
  const tagged = new TaggedReasoning();
  const blocks = new Map<string, LanguageModelV4TextPart | LanguageModelV4ReasoningPart>();
  let [callsStarted, callsLength] = [0, 0];
  let turnedAt = performance.now();
  try {
    const { stream } = await answering;
    for await (const part of stream) {
      if (part.type === 'text-start' || part.type === 'reasoning-start') {
        blocks.set(part.id, { type: part.type === 'text-start' ? 'text' : 'reasoning', text: '' });
      }
      const block = 'id' in part && part.id !== undefined ? blocks.get(part.id) : undefined;
      // Providers sign their reasoning, in any part of it, and require the signature in the next request.
      if (block !== undefined && 'providerMetadata' in part && part.providerMetadata !== undefined) {
        block.providerOptions = { ...block.providerOptions, ...part.providerMetadata };
      }
      if (block !== undefined && 'delta' in part) block.text += part.delta;
      if (part.type === 'text-delta') yield* text.add(tagged.add(part.delta));
      if (part.type === 'reasoning-delta') yield* text.add([part.delta, '']);
      if (part.type === 'reasoning-end') yield* text.add([endOfReasoning, '']);
      // The calls themselves may follow only at the end of the answer, after the SDK has kept all of them.
      if (part.type === 'tool-input-start') callsStarted += 1;
      if (part.type === 'tool-input-delta') callsLength += part.delta.length;
      if (callsStarted > callsMax || callsLength > callsLengthMax) throw tooManyCalls();
      if (part.type === 'tool-call') calls.push(repeatedCall(part));
      if (part.type === 'error' && !hasUnknownType(part.error)) throw part.error;
      // If the provider gave no reason, the stream was cut off. Otherwise the answer is complete: what happens to the
      // connection after it does not matter.
      if (part.type === 'finish' && part.finishReason.raw !== undefined) {
        yield* text.add(tagged.end());
        // Providers reject empty texts, but reasoning may consist of its signature only.
        const texts = [...blocks.values()].filter(
          ({ type, text, providerOptions }) => text !== '' || (type === 'reasoning' && providerOptions),
        );
        return { texts, calls, finishReason: part.finishReason.unified };
      }
      // Buffered parts arrive without a turn of the event loop.
      if (performance.now() - turnedAt < stretchMs) continue;
      await turn();
      turnedAt = performance.now();
    }
    throw cutOff();
  } catch (error) {
    throw toModelError(error);
  }
}

/** Called before the SDK handles an event: it compares each call with all earlier ones, and 19,000 would take it 37 s. */
export function limitCalls({ choices }: { choices?: { delta?: { tool_calls?: unknown[] } }[] }): void {
  if ((choices?.[0]?.delta?.tool_calls?.length ?? 0) > callsMax) throw tooManyCalls();
}

const tooManyCalls = () => new ModelError('The model searched too much at once.', { transient: true });

function repeatedCall({ type, toolCallId, toolName, input, providerMetadata }: LanguageModelV4ToolCall) {
  const options = providerMetadata && { providerOptions: providerMetadata };
  return { type, toolCallId, toolName, input: parsed(input), ...options };
}

/** An object in any case: providers reject a request that repeats any other input. */
function parsed(json: string): { readonly query?: unknown } {
  return { ...orUndefined(() => JSON.parse(json)) };
}
