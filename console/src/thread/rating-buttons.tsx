import { ActionIcon, Button, Group, Popover, Text, Textarea, Tooltip } from '@mantine/core';
import { IconThumbDown, IconThumbDownFilled, IconThumbUp, IconThumbUpFilled } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Json } from '../api/contract.ts';
import { keys, ratingsOptions } from '../api/queries.ts';
import { inOrganization, request } from '../api/request.ts';
import { announce } from '../app/announcer.tsx';
import { Failure } from '../app/failure.tsx';
import { useLimits, useOrganization } from '../app/session.tsx';
import classes from './versions.module.css';

/** Thumbs up or down. A second click takes the rating back; thumbs down also asks for a comment. */
export function RatingButtons({ messageId }: { messageId: string }) {
  const { rating, rate } = useRating(messageId);
  const [isAsking, setAsking] = useState(false);
  const isUp = rating?.value === 'up';
  const isDown = rating?.value === 'down';
  const choose = (value: 'up' | 'down') => {
    const isRemoved = rating?.value === value;
    setAsking(value === 'down' && !isRemoved);
    rate.mutate(
      { messageId, value: isRemoved ? null : value },
      { onSuccess: () => announce(isRemoved ? 'Rating removed' : 'Rated') },
    );
  };
  return (
    <>
      <Tooltip label="Good reply">
        <ActionIcon
          variant="subtle"
          color={isUp ? 'indigo' : 'gray'}
          aria-label="Good reply"
          aria-pressed={isUp}
          onClick={() => choose('up')}
        >
          {isUp ? <IconThumbUpFilled size={16} aria-hidden /> : <IconThumbUp size={16} aria-hidden />}
        </ActionIcon>
      </Tooltip>
      <Popover
        opened={isAsking}
        onChange={setAsking}
        position="bottom-start"
        withArrow
        shadow="md"
        trapFocus
        returnFocus
      >
        <Popover.Target>
          <Tooltip label="Bad reply" disabled={isAsking}>
            <ActionIcon
              variant="subtle"
              color={isDown ? 'indigo' : 'gray'}
              aria-label="Bad reply"
              aria-pressed={isDown}
              onClick={() => choose('down')}
            >
              {isDown ? (
                <IconThumbDownFilled size={16} aria-hidden />
              ) : (
                <IconThumbDown size={16} aria-hidden />
              )}
            </ActionIcon>
          </Tooltip>
        </Popover.Target>
        <Popover.Dropdown aria-label="What was wrong?">
          <CommentForm
            comment={rating?.comment ?? ''}
            onSend={(comment) => rate.mutateAsync({ messageId, value: 'down', comment })}
            onClose={() => setAsking(false)}
          />
        </Popover.Dropdown>
      </Popover>
      {rate.isError && !isAsking && <Failure error={rate.error} title="Couldn’t save the rating" />}
    </>
  );
}

interface CommentFormProps {
  readonly comment: string;
  readonly onSend: (comment: string) => Promise<unknown>;
  readonly onClose: () => void;
}

function CommentForm({ comment, onSend, onClose }: CommentFormProps) {
  const [text, setText] = useState(comment);
  const { ratingCommentLengthMax } = useLimits();
  const sending = useMutation({
    mutationFn: onSend,
    onSuccess: () => {
      announce('Comment sent');
      onClose();
    },
  });
  return (
    <div className={classes.comment}>
      <Textarea
        label="What was wrong?"
        placeholder="Optional"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={ratingCommentLengthMax}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus
      />
      <Text size="xs" c="dimmed" mt={6}>
        Admins who can read this thread see your comment.
      </Text>
      {sending.isError && <Failure error={sending.error} title="Couldn’t send the comment" />}
      <Group gap="xs" justify="flex-end" mt="sm">
        <Button size="xs" variant="default" onClick={onClose}>
          Skip
        </Button>
        <Button
          size="xs"
          loading={sending.isPending}
          disabled={text.trim() === ''}
          onClick={() => sending.mutate(text.trim())}
        >
          Send comment
        </Button>
      </Group>
    </div>
  );
}

/** The person's own rating of a reply in the current thread. A change shows immediately. */
function useRating(messageId: string) {
  const { id } = useOrganization();
  const { threadId } = useParams({ from: '/signedIn/threads/$threadId' });
  const queryClient = useQueryClient();
  const key = keys.ratings(id, threadId);
  const { data: rating } = useQuery({
    ...ratingsOptions(id, threadId),
    select: ({ ratings }) => ratings.find((one) => one.messageId === messageId),
  });
  const rate = useMutation({
    mutationFn: (body: Json<'ratingBody'>) =>
      request('PUT', inOrganization(id, `/threads/${encodeURIComponent(threadId)}/rating`), { body }),
    onMutate: async ({ value, comment = null }) => {
      await queryClient.cancelQueries({ queryKey: key });
      queryClient.setQueryData<Json<'ratings'>>(key, (known) => {
        const others = known?.ratings.filter((one) => one.messageId !== messageId) ?? [];
        return { ratings: value === null ? others : [...others, { messageId, value, comment }] };
      });
    },
    onError: () => queryClient.invalidateQueries({ queryKey: key }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.unanswered(id) }),
  });
  return { rating, rate };
}
