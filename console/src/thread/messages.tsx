import { Suspense, useEffect, useRef } from 'react';
import type { ThreadViewJson } from '../api/contract.ts';
import { Prompt } from './prompt.tsx';
import { Reply } from './reply.tsx';
import { MessagesSkeleton } from './thread-skeleton.tsx';
import { latestReply } from './thread-state.ts';

interface MessagesProps {
  readonly view: ThreadViewJson;
  readonly clockAheadMs: number | null;
  /** Undefined on another person's thread. */
  readonly onRetry: (() => Promise<unknown>) | undefined;
}

export function Messages(props: MessagesProps) {
  return (
    <Suspense fallback={<MessagesSkeleton />}>
      <MessageList {...props} />
    </Suspense>
  );
}

function MessageList({ view, clockAheadMs, onRetry }: MessagesProps) {
  const list = useRef<HTMLDivElement>(null);
  const latest = latestReply(view);
  useLatestPromptFirst(list, view.thread.mine);
  return (
    <div ref={list}>
      {view.messages.map((message, at) =>
        message.role === 'user' ? (
          <Prompt
            key={message.id}
            prompt={message}
            author={view.thread.mine ? 'You' : view.thread.createdBy}
          />
        ) : (
          <Reply
            key={message.id}
            reply={message}
            clockAheadMs={clockAheadMs}
            isSuperseded={view.messages[at + 1]?.role === 'assistant'}
            onRetry={message === latest ? onRetry : undefined}
          />
        ),
      )}
    </div>
  );
}

/**
 * A person's own long thread opens at its latest prompt, unless the browser restores the scroll position. Another
 * person's thread opens at its beginning.
 */
function useLatestPromptFirst(list: { readonly current: HTMLElement | null }, isMine: boolean): void {
  useEffect(() => {
    if (!isMine) return;
    const frame = requestAnimationFrame(() => {
      const prompts = list.current?.querySelectorAll('[data-testid="prompt"]') ?? [];
      if (prompts.length > 1 && scrollY === 0)
        prompts[prompts.length - 1]?.scrollIntoView({ block: 'start' });
    });
    return () => cancelAnimationFrame(frame);
  }, [list, isMine]);
}
