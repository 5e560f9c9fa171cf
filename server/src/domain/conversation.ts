import type { MessageId } from './id.ts';
import type { AssistantMessage, Message } from './message.ts';

/** One message of a conversation. */
export interface ConversationTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/**
 * The conversation before a reply, from the first message to the prompt that the reply answers. For each earlier prompt it
 * includes the last reply that completed, or that was stopped after it had written text. Failed replies are left out, and
 * so are earlier replies to the prompt itself, and prompts that were edited later, with their replies.
 */
export function conversationBefore(messages: readonly Message[], replyId: MessageId): ConversationTurn[] {
  const end = messages.findIndex(({ id }) => id === replyId);
  const turns: ConversationTurn[] = [];
  let latest: AssistantMessage | undefined;
  for (const message of messages.slice(0, end === -1 ? 0 : end)) {
    if (message.role === 'assistant') {
      if (hasText(message)) latest = message;
      continue;
    }
    // Only the last prompt can be edited, so the edited one is the last turn.
    if (message.replaces !== undefined) turns.pop();
    else if (latest !== undefined) turns.push({ role: 'assistant', content: latest.content });
    latest = undefined;
    turns.push({ role: 'user', content: message.content });
  }
  return turns;
}

function hasText({ status, content }: AssistantMessage): boolean {
  return status === 'completed' || (status === 'cancelled' && content.trim() !== '');
}
