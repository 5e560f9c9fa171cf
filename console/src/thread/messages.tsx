import { Suspense, useEffect, useMemo, useRef } from 'react';
import type { Json } from '../api/contract.ts';
import { type ExchangeProps, ExchangeView } from './exchange.tsx';
import { MessagesSkeleton } from './thread-skeleton.tsx';
import { groupExchanges } from './versions.ts';

interface MessagesProps {
  readonly view: Json<'threadView'>;
  readonly clockAheadMs: number | null;
  /** Undefined on another person's thread. */
  readonly onRetry: ExchangeProps['onRetry'];
  /** Also undefined while a reply is being written. */
  readonly onEdit: ExchangeProps['onEdit'];
}

export function Messages(props: MessagesProps) {
  return (
    <Suspense fallback={<MessagesSkeleton />}>
      <MessageList {...props} />
    </Suspense>
  );
}

function MessageList({ view, clockAheadMs, onRetry, onEdit }: MessagesProps) {
  const list = useRef<HTMLDivElement>(null);
  const exchanges = useMemo(() => groupExchanges(view.messages), [view.messages]);
  useLatestPromptFirst(list, view.thread.mine);
  return (
    <div ref={list}>
      {exchanges.map((exchange, at) => {
        const isLast = at === exchanges.length - 1;
        return (
          <ExchangeView
            key={exchange[0].prompt.id}
            exchange={exchange}
            author={view.thread.mine ? 'You' : view.thread.createdBy}
            clockAheadMs={clockAheadMs}
            onRetry={isLast ? onRetry : undefined}
            onEdit={isLast ? onEdit : undefined}
          />
        );
      })}
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
