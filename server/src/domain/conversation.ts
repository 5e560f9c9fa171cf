import type { MessageId } from './id.ts';
import type { AssistantMessage, Message } from './message.ts';

/** One message as it was said. */
export interface ConversationTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/**
 * What was said before a reply: from the first message to the prompt that it answers, which is the last. Of each prompt
 * only the reply that stands is a part of it: one that failed said nothing, one that was stopped said what it had, and of
 * several tries the last counts. The tries at the prompt to be answered are left out: it is answered from its beginning.
 */
export function conversationBefore(messages: readonly Message[], replyId: MessageId): ConversationTurn[] {
  const end = messages.findIndex(({ id }) => id === replyId);
  const said: ConversationTurn[] = [];
  let standing: AssistantMessage | undefined;
  for (const message of messages.slice(0, end === -1 ? 0 : end)) {
    if (message.role === 'assistant') {
      if (saidSomething(message)) standing = message;
      continue;
    }
    if (standing !== undefined) said.push({ role: 'assistant', content: standing.content });
    standing = undefined;
    said.push({ role: 'user', content: message.content });
  }
  return said;
}

function saidSomething({ status, content }: AssistantMessage): boolean {
  return status === 'completed' || (status === 'cancelled' && content.trim() !== '');
}
