import { useEffect } from 'react';
import type { ThreadViewJson } from '../api/contract.ts';
import { ApiError } from '../api/request.ts';
import type { ThreadChanges } from './thread-changes.ts';

/** If the response to a prompt was lost, the thread shows whether the prompt arrived. */
export function useArrivedPrompt(
  { messages }: ThreadViewJson,
  send: ThreadChanges['send'],
  onArrived: (prompt: string) => void,
): void {
  const { error, variables: prompt, context, reset } = send;
  const isUnsure = error instanceof ApiError && (error.status === 0 || error.status >= 500);
  const known = context?.knownMessages ?? messages.length;
  const hasArrived =
    isUnsure && messages.slice(known).some(({ role, content }) => role === 'user' && content === prompt);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a prompt arrives once; the callback changes every time.
  useEffect(() => {
    if (!hasArrived || prompt === undefined) return;
    reset();
    onArrived(prompt);
  }, [hasArrived, prompt, reset]);
}
