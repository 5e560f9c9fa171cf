import type { MessageId } from './id.ts';
import type { AssistantMessage, Message } from './message.ts';

export interface ConversationTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The characters that a model gets before the prompt: about 12,000 tokens, which leave a small model room to answer. */
export const historyLengthMax = 48_000;

/**
 * The end of the conversation before a reply, up to the prompt that the reply answers. For each earlier prompt it
 * includes the last reply that completed, or that was stopped after it had written text. Failed replies are left out, and
 * so are earlier replies to the prompt itself, and prompts that were edited later, with their replies.
 */
export function conversationBefore(messages: readonly Message[], replyId: MessageId): ConversationTurn[] {
  const end = messages.findIndex(({ id }) => id === replyId);
  const turns: ConversationTurn[] = [];
  let latest: AssistantMessage | undefined;
  for (const message of messages.slice(0, end === -1 ? 0 : end)) {
    if (message.role === 'assistant') {
      const { status, content } = message;
      if (status === 'completed' || (status === 'cancelled' && content.trim() !== '')) latest = message;
      continue;
    }
    // Only the last prompt can be edited, so the edited one is the last turn.
    if (message.replaces !== undefined) turns.pop();
    else if (latest !== undefined) turns.push({ role: 'assistant', content: latest.content });
    latest = undefined;
    turns.push({ role: 'user', content: message.content });
  }
  return keepLatest(turns);
}

/** The last turn, and as many before it as fit. */
function keepLatest(turns: readonly ConversationTurn[]): ConversationTurn[] {
  let first = turns.length - 1;
  for (let left = historyLengthMax; first > 0; first -= 1) {
    left -= turns[first - 1]!.content.length;
    if (left < 0) break;
  }
  return turns.slice(Math.max(0, first));
}
