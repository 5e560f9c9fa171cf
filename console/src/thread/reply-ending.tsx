import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { Json } from '../api/contract.ts';
import { Failure, TraceId } from '../app/failure.tsx';
import classes from './reply.module.css';

interface ReplyEndingProps {
  readonly reply: Json<'reply'>;
  /** Undefined if the reply cannot be retried: it is not the latest one, or belongs to another person. */
  readonly onRetry: (() => Promise<unknown>) | undefined;
}

/** Explains why a reply did not complete. */
export function ReplyEnding({ reply, onRetry }: ReplyEndingProps) {
  if (reply.status === 'failed') return <FailedReply reply={reply} onRetry={onRetry} />;
  if (reply.status !== 'cancelled') return null;
  return (
    <Group gap="sm" className={classes.stopped}>
      <Group gap={6}>
        <IconPlayerStop size={16} aria-hidden />
        <Text size="sm">{reply.content === '' ? 'Stopped before the reply started.' : 'Stopped.'}</Text>
      </Group>
      {onRetry !== undefined && <Retry onRetry={onRetry} />}
    </Group>
  );
}

function FailedReply({ reply, onRetry }: ReplyEndingProps) {
  return (
    <Alert color="red" variant="light" title="The reply failed" icon={<IconAlertTriangle aria-hidden />}>
      <Text size="sm">{reply.content}</Text>
      {reply.failure !== null && (
        <Text size="sm" mt={4}>
          Reason: {reply.failure}
        </Text>
      )}
      {reply.traceId !== null && <TraceId id={reply.traceId} />}
      {onRetry !== undefined && (
        <Group mt="xs">
          <Retry onRetry={onRetry} />
        </Group>
      )}
    </Alert>
  );
}

function Retry({ onRetry }: { onRetry: () => Promise<unknown> }) {
  const retrying = useMutation({ mutationFn: onRetry });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconRefresh size={16} aria-hidden />}
        loading={retrying.isPending}
        onClick={() => retrying.mutate()}
      >
        Retry
      </Button>
      {retrying.isError && <Failure error={retrying.error} title="Couldn’t retry the reply" />}
    </>
  );
}
