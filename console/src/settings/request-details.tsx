import { Anchor, Badge, Code, Drawer, Group, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { Json } from '../api/contract.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { formatDateTime } from '../app/format-time.ts';
import { formatLatency, operationName, statusColor } from './request-labels.ts';
import classes from './requests-page.module.css';

interface RequestDetailsProps {
  /** Undefined: closed. */
  readonly request: Json<'request'> | undefined;
  readonly onClose: () => void;
}

export function RequestDetails({ request, onClose }: RequestDetailsProps) {
  return (
    <Drawer
      opened={request !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title={request && operationName(request)}
    >
      {request && <Details {...request} />}
    </Drawer>
  );
}

function Details(request: Json<'request'>) {
  const { id, at, method, status, ms, credential, error } = request;
  const envelope = error && { error: { code: error.code, message: error.message, trace_id: id } };
  const facts = {
    Status: (
      <Badge variant="light" color={statusColor(status)} radius="sm">
        {status}
      </Badge>
    ),
    Method: method,
    Latency: formatLatency(ms),
    When: <time dateTime={at}>{formatDateTime(new Date(at))}</time>,
    Credential: (
      <Anchor component={Link} to={credential.kind === 'key' ? '/settings/keys' : '/settings/applications'}>
        {credential.name}
      </Anchor>
    ),
    'Trace ID': (
      <Group gap={4} wrap="nowrap">
        <Code>{id}</Code>
        <CopyButton compact value={id} label="Copy trace ID" />
      </Group>
    ),
  };
  return (
    <Stack gap="lg">
      <dl className={classes.facts}>
        {Object.entries(facts).map(([name, fact]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{fact}</dd>
          </Fragment>
        ))}
      </dl>
      {envelope && (
        <section aria-labelledby="envelope">
          <Title order={3} size="h5" id="envelope" mb={6}>
            Error response
          </Title>
          <Code block data-testid="envelope">
            {JSON.stringify(envelope, null, 2)}
          </Code>
        </section>
      )}
      <Text size="sm" c="dimmed">
        Prompts, request bodies and secrets are not logged.{' '}
        <Link to="/settings/audit" search={{ trace: id }}>
          Audit log entries for this request
        </Link>
      </Text>
    </Stack>
  );
}
