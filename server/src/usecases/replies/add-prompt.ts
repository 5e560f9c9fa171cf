import type { UserPrincipal } from '../../domain/principal.ts';
import type { Context } from '../context.ts';
import { addReply } from './add-reply.ts';

/** A follow-up: another prompt in the thread, with its reply on the way once this resolves. */
export function addPrompt(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
  { prompt, traceId }: { readonly prompt: string; readonly traceId: string },
): Promise<void> {
  const messageId = context.ids.message();
  return addReply(context, principal, threadId, { prompt: { messageId, content: prompt }, traceId });
}
