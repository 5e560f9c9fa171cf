import { Prompt } from './prompt.tsx';
import { Reply } from './reply.tsx';
import { useVersion } from './version-pager.tsx';
import type { Exchange } from './versions.ts';

export interface ExchangeProps {
  readonly exchange: Exchange;
  /** Who asked. */
  readonly author: string;
  readonly clockAheadMs: number | null;
  /** Both undefined unless this is the last exchange of the person's own thread. */
  readonly onRetry: (() => Promise<unknown>) | undefined;
  readonly onEdit: ((prompt: string, replaces: string) => Promise<unknown>) | undefined;
}

/** A prompt and its reply, in the versions that the reader chose. */
export function ExchangeView({ exchange, author, clockAheadMs, onRetry, onEdit }: ExchangeProps) {
  const version = useVersion(exchange.length);
  const turn = exchange[version.at]!;
  const isCurrent = version.at === version.count - 1;
  return (
    <>
      <Prompt
        key={turn.prompt.id}
        prompt={turn.prompt}
        author={author}
        version={version}
        onEdit={isCurrent ? onEdit : undefined}
      />
      <Replies
        key={`replies to ${turn.prompt.id}`}
        replies={turn.replies}
        clockAheadMs={clockAheadMs}
        onRetry={isCurrent ? onRetry : undefined}
      />
    </>
  );
}

interface RepliesProps extends Pick<ExchangeProps, 'clockAheadMs' | 'onRetry'> {
  readonly replies: Exchange[number]['replies'];
}

function Replies({ replies, clockAheadMs, onRetry }: RepliesProps) {
  const version = useVersion(replies.length);
  const reply = replies[version.at];
  if (reply === undefined) return null;
  const isCurrent = version.at === version.count - 1;
  return (
    <Reply
      key={reply.id}
      reply={reply}
      clockAheadMs={clockAheadMs}
      version={version}
      onRetry={isCurrent ? onRetry : undefined}
    />
  );
}
