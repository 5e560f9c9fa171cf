import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react';
import { ApiError } from '../api/request.ts';
import { CopyButton } from './copy-button.tsx';

interface FailureProps {
  readonly error: unknown;
  /** What could not be done: "Couldn’t load threads". */
  readonly title?: string;
  readonly onRetry?: () => void;
}

/** Shows what happened, the trace ID for support, and a button to try again. */
export function Failure({ error, title = 'Something went wrong', onRetry }: FailureProps) {
  const traceId = error instanceof ApiError ? error.traceId : null;
  return (
    <Alert role="alert" color="red" variant="light" title={title} icon={<IconAlertTriangle aria-hidden />}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{failureText(error)}</Text>
        {traceId !== null && <TraceId id={traceId} />}
        {onRetry !== undefined && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={16} aria-hidden />}
            onClick={onRetry}
          >
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** A trace ID to quote. */
export function TraceId({ id }: { id: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="xs" flex="none">
        Trace ID
      </Text>
      <Code style={{ overflowWrap: 'anywhere' }}>{id}</Code>
      <CopyButton compact value={id} label="Copy trace ID" />
    </Group>
  );
}

/** The message of the service, which is written for people. Other errors are bugs and get a general sentence. */
export function failureText(error: unknown): string {
  return error instanceof ApiError
    ? error.message
    : 'Something unexpected happened in the console. Reload the page and try again.';
}
