import { useEffect, useRef } from 'react';
import type { Json } from '../api/contract.ts';
import { announce } from '../app/announcer.tsx';
import { isRunning } from './thread-state.ts';

const words: Record<Json<'reply'>['status'], string> = {
  in_progress: 'Generating',
  corroborating: 'Generating',
  completed: 'Complete',
  failed: 'Failed',
  cancelled: 'Stopped',
};

/**
 * Announces each change of a reply's status to screen readers, once. A reply that had already ended is not announced.
 */
export function useAnnouncedReply(reply: Json<'reply'> | undefined): void {
  const id = reply?.id;
  const word = reply && words[reply.status];
  const wasRunning = useRef(isRunning(reply));
  const announced = useRef('');
  useEffect(() => {
    if (id === undefined || word === undefined) return;
    const change = `${id} ${word}`;
    if (announced.current === '' && !wasRunning.current) announced.current = change;
    if (announced.current === change) return;
    announced.current = change;
    announce(word);
  }, [id, word]);
}
