import type { Json } from '../api/contract.ts';

/** A prompt and the replies to it, oldest first: regenerating adds a reply and keeps the earlier ones. */
export interface Turn {
  readonly prompt: Json<'userMessage'>;
  readonly replies: readonly Json<'reply'>[];
}

/** One place in the conversation: the versions of a prompt, oldest first. Editing the prompt adds one. */
export type Exchange = readonly [Turn, ...Turn[]];

export function groupExchanges(messages: readonly Json<'message'>[]): Exchange[] {
  const exchanges: [OpenTurn, ...OpenTurn[]][] = [];
  for (const message of messages) {
    const current = exchanges.at(-1);
    if (message.role === 'assistant') current?.at(-1)?.replies.push(message);
    else if (message.replaces !== undefined && current !== undefined)
      current.push({ prompt: message, replies: [] });
    else exchanges.push([{ prompt: message, replies: [] }]);
  }
  return exchanges;
}

/** Whether the page shows only the latest version of some prompt or reply. Readers of a published thread get every one. */
export function hasEarlierVersions(messages: readonly Json<'message'>[]): boolean {
  return groupExchanges(messages).some(
    (turns) => turns.length > 1 || turns.some(({ replies }) => replies.length > 1),
  );
}

interface OpenTurn {
  readonly prompt: Json<'userMessage'>;
  readonly replies: Json<'reply'>[];
}
