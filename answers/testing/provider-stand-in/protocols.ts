/** A request, independent of its protocol. */
export interface Asked {
  readonly instructions: string;
  /** The text of the user's last message. */
  readonly prompt: string;
  readonly hasTools: boolean;
  /** Whether the request forbids tool calls. */
  readonly mustAnswer: boolean;
  /** The results of the searches since that message, if there were any. */
  readonly found: string | undefined;
}

type Ending = 'stop' | 'length' | 'content-filter' | 'tool';

/** Encodes an answer as server-sent events. */
export interface AnswerEncoder {
  begin(): string[];
  reasoning(deltas: readonly string[]): string[];
  text(deltas: readonly string[]): string[];
  /** `input` is the JSON for the tool. */
  toolCall(input: string): string[];
  /** As many calls of the tool, in one event if the protocol allows it. */
  toolCalls(count: number): string[];
  error(type: string): string[];
  end(ending: Ending): string[];
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | Block[];
}

interface ChatMessage {
  readonly role: string;
  readonly content: string | Block[] | null;
}

// biome-ignore lint/suspicious/noExplicitAny: clients send anything.
type Body = any;

export function readChatCompletion(body: Body): Asked {
  const messages: ChatMessage[] = body.messages ?? [];
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.slice(last + 1).filter(({ role }) => role === 'tool');
  return {
    instructions: messages
      .filter(({ role }) => role === 'system')
      .map(({ content }) => joinText(content))
      .join('\n'),
    prompt: joinText(messages[last]?.content ?? ''),
    hasTools: (body.tools ?? []).length > 0,
    mustAnswer: body.tool_choice === 'none',
    found: results.length === 0 ? undefined : results.map(({ content }) => joinText(content)).join('\n'),
  };
}

/** In this protocol, a tool's result is a message of the user. */
export function readMessages(body: Body): Asked {
  const messages: ChatMessage[] = body.messages ?? [];
  const isResult = ({ content }: ChatMessage) =>
    Array.isArray(content) && content.some(({ type }) => type === 'tool_result');
  const last = messages.findLastIndex((message) => message.role === 'user' && !isResult(message));
  const results = messages.slice(last + 1).filter(isResult);
  return {
    instructions: joinText(body.system ?? ''),
    prompt: joinText(messages[last]?.content ?? ''),
    hasTools: (body.tools ?? []).length > 0,
    mustAnswer: body.tool_choice?.type === 'none',
    found: results.length === 0 ? undefined : results.map(({ content }) => joinText(content)).join('\n'),
  };
}

function joinText(content: string | Block[] | null): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((block) => block.text ?? joinText(block.content ?? '')).join('\n');
}

/** For OpenAI-compatible APIs. */
export class ChatCompletionEncoder implements AnswerEncoder {
  #calls = 0;

  begin(): string[] {
    return [this.#chunk({ role: 'assistant', content: '' })];
  }

  reasoning(deltas: readonly string[]): string[] {
    return deltas.map((delta) => this.#chunk({ reasoning_content: delta }));
  }

  text(deltas: readonly string[]): string[] {
    return deltas.map((delta) => this.#chunk({ content: delta }));
  }

  toolCall(input: string): string[] {
    const half = Math.floor(input.length / 2);
    const signed = { extra_content: { google: { thought_signature: 'signed' } } };
    const index = this.#calls++;
    const call = { index, id: `call_${index}`, type: 'function', ...signed };
    return [
      this.#chunk({ tool_calls: [{ ...call, function: { name: 'searchDocuments', arguments: '' } }] }),
      ...[input.slice(0, half), input.slice(half)].map((piece) =>
        this.#chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ];
  }

  toolCalls(count: number): string[] {
    const call = { index: 0, function: { name: 'searchDocuments', arguments: '{}' } };
    return [this.#chunk({ tool_calls: new Array(count).fill(call) })];
  }

  error(type: string): string[] {
    return [event({ error: { message: 'Something went wrong.', type, code: null } })];
  }

  end(ending: Ending): string[] {
    const reasons = {
      stop: 'stop',
      length: 'length',
      'content-filter': 'content_filter',
      tool: 'tool_calls',
    };
    return [this.#chunk({}, reasons[ending]), 'data: [DONE]\n\n'];
  }

  #chunk(delta: object, reason: string | null = null): string {
    return event({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'stand-in',
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
  }
}

/** For the Anthropic API. */
export class MessagesEncoder implements AnswerEncoder {
  #blocks = 0;

  begin(): string[] {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'stand-in',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    return [
      named({ type: 'message_start', message }),
      named({ type: 'ping' }),
      // Clients have to ignore types that they do not know.
      named({ type: 'event_of_a_later_version' }),
      ...this.#block({ type: 'block_of_a_later_version' }, [{ type: 'delta_of_a_later_version' }]),
    ];
  }

  reasoning(deltas: readonly string[]): string[] {
    return this.#block({ type: 'thinking', thinking: '', signature: '' }, [
      ...deltas.map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: 'signed' },
    ]);
  }

  text(deltas: readonly string[]): string[] {
    return this.#block(
      { type: 'text', text: '' },
      deltas.map((text) => ({ type: 'text_delta', text })),
    );
  }

  toolCall(input: string): string[] {
    const half = Math.floor(input.length / 2);
    return this.#block(
      { type: 'tool_use', id: `toolu_${this.#blocks}`, name: 'searchDocuments', input: {} },
      [input.slice(0, half), input.slice(half)].map((json) => ({
        type: 'input_json_delta',
        partial_json: json,
      })),
    );
  }

  toolCalls(count: number): string[] {
    return Array.from({ length: count }, () => this.toolCall('{}')).flat();
  }

  error(type: string): string[] {
    return [named({ type: 'error', error: { type, message: 'Something went wrong.' } })];
  }

  end(ending: Ending): string[] {
    const reasons = { stop: 'end_turn', length: 'max_tokens', 'content-filter': 'refusal', tool: 'tool_use' };
    const delta = { stop_reason: reasons[ending], stop_sequence: null };
    return [
      named({ type: 'message_delta', delta, usage: { output_tokens: 1 } }),
      named({ type: 'message_stop' }),
    ];
  }

  #block(content: object, deltas: readonly object[]): string[] {
    const index = this.#blocks++;
    return [
      named({ type: 'content_block_start', index, content_block: content }),
      ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta })),
      named({ type: 'content_block_stop', index }),
    ];
  }
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function named(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${data.type}\n${event(data)}`;
}
