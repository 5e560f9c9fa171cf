import { ActionIcon, Text, Tooltip } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { Json } from '../api/contract.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { Failure } from '../app/failure.tsx';
import { RatingButtons } from './rating-buttons.tsx';
import { replyMarkdown } from './thread-markdown.ts';
import { describeOrigin, isRunning } from './thread-state.ts';
import { type VersionChoice, VersionPager } from './version-pager.tsx';
import classes from './versions.module.css';

interface ReplyActionsProps {
  readonly reply: Json<'reply'>;
  readonly version: VersionChoice;
  /** Undefined if the reply cannot be generated again: it is not the latest one, or belongs to another person. */
  readonly onRetry: (() => Promise<unknown>) | undefined;
}

/** What people can do with a finished reply: page through its versions, copy, regenerate and rate it. */
export function ReplyActions({ reply, version, onRetry }: ReplyActionsProps) {
  const { status, content } = reply;
  const origin = describeOrigin(reply);
  const regenerating = useMutation({ mutationFn: async () => onRetry?.() });
  const hasText = content !== '' && status !== 'failed' && !isRunning(reply);
  if (!hasText && version.count === 1) return null;
  return (
    <>
      <div className={classes.actions}>
        <VersionPager of="reply" version={version} />
        {hasText && (
          <>
            <CopyButton compact value={replyMarkdown(reply)} label="Copy reply" />
            {status === 'completed' && onRetry !== undefined && (
              <Tooltip label="Regenerate">
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label="Regenerate"
                  loading={regenerating.isPending}
                  onClick={() => regenerating.mutate()}
                >
                  <IconRefresh size={16} aria-hidden />
                </ActionIcon>
              </Tooltip>
            )}
            <RatingButtons messageId={reply.id} />
            {origin !== null && (
              <Text size="xs" c="dimmed" className={classes.model}>
                {origin}
              </Text>
            )}
          </>
        )}
      </div>
      {regenerating.isError && <Failure error={regenerating.error} title="Couldn’t regenerate the reply" />}
    </>
  );
}
