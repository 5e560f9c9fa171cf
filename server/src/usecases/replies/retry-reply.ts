import type { UserPrincipal } from '../../domain/principal.ts';
import type { Context } from '../context.ts';
import { addReply } from './add-reply.ts';

/** Tries anew to answer the last prompt, after its reply has failed or was stopped. */
export function retryReply(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
  traceId: string,
): Promise<void> {
  return addReply(context, principal, threadId, { prompt: null, traceId });
}
