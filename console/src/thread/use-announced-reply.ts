import { useEffect, useRef } from 'react';
import type { ReplyJson } from '../api/contract.ts';
import { announce } from '../app/announcer.tsx';
import { isRunning } from './thread-state.ts';

const words: Record<ReplyJson['status'], string> = {
  in_progress: 'Generating',
  corroborating: 'Generating',
  completed: 'Complete',
  failed: 'Failed',
  cancelled: 'Stopped',
};

/**
 * Announces the progress of a reply to screen readers, each event once. Replies that had already ended are not
 * announced.
 */
export function useAnnouncedReply(reply: ReplyJson | undefined): void {
  const id = reply?.id;
  const word = reply && words[reply.status];
  const isNews = useRef(isRunning(reply));
  const said = useRef('');
  useEffect(() => {
    if (id === undefined || word === undefined) return;
    const saying = `${id} ${word}`;
    if (said.current === '' && !isNews.current) said.current = saying;
    if (said.current === saying) return;
    said.current = saying;
    announce(word);
  }, [id, word]);
}
