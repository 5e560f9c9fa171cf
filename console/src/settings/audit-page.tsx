import { Button, Code, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { AuditEventJson } from '../api/contract.ts';
import { auditOptions } from '../api/queries.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { Failure } from '../app/failure.tsx';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { AdminsOnly } from './admins-only.tsx';
import { describeAction, describeDetail } from './audit-words.ts';
import { type Column, DataTable } from './data-table.tsx';
import { Email } from './email.tsx';
import { EmptyState } from './empty-state.tsx';
import { When } from './when.tsx';

export function AuditPage() {
  const { role } = useOrganization();
  return role === 'admin' ? <Audit /> : <AdminsOnly title="Audit log" />;
}

function Audit() {
  const { id } = useOrganization();
  const { trace = '' } = useSearch({ from: '/door/settings/audit' });
  const [typed, setTyped] = useState(trace);
  const [traceId] = useDebouncedValue(typed.trim(), 250);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    auditOptions(id, traceId),
  );
  return (
    <Page
      title="Audit log"
      width="wide"
      description="Who did what, and when. Newest first. Entries are never removed."
    >
      <TextInput
        label="Trace id"
        description="From an error message or a response's X-Request-Id, or a failed reply."
        placeholder="0f8fad5b-d9cb-469f-a165-70867728950e"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        maw={460}
        mb="lg"
        type="search"
      />
      {error !== null && (
        <Failure error={error} title="Couldn’t load the audit log" onRetry={() => refetch()} />
      )}
      {error === null && (
        <DataTable
          caption="Audit log"
          rows={data?.pages.flatMap(({ events }) => events)}
          columns={columns}
          empty={
            traceId === '' ? (
              <EmptyState title="No activity yet">Changes to settings appear here.</EmptyState>
            ) : (
              <EmptyState title="No entries with this trace ID">
                The audit log records changes, sign-ins and failed replies. Look for individual requests in
                the service’s own log, by the same trace ID.
              </EmptyState>
            )
          }
        />
      )}
      {hasNextPage && (
        <Group justify="center" mt="md">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Load more
          </Button>
        </Group>
      )}
    </Page>
  );
}

const columns: Column<AuditEventJson>[] = [
  { heading: 'When', cell: ({ at }) => <When iso={at} exact /> },
  { heading: 'Who', cell: ({ actor }) => <Email address={actor} /> },
  { heading: 'Action', cell: ({ action }) => describeAction(action) },
  {
    heading: 'Target',
    cell: (event) => (
      <div>
        <Subject {...event} />
        <Text size="xs" c="dimmed">
          {describeDetail(event.detail)}
        </Text>
      </div>
    ),
  },
  {
    heading: 'Trace id',
    cell: ({ traceId }) => (
      <Group gap={4} wrap="nowrap">
        <Link to="/settings/requests" search={{ trace: traceId }} title="Find the API request">
          <Code>{traceId.slice(0, 8)}</Code>
        </Link>
        <CopyButton compact value={traceId} label="Copy trace ID" />
      </Group>
    ),
  },
];

function Subject({ subject }: AuditEventJson) {
  if (!subject.startsWith('thr_')) return <Code>{subject}</Code>;
  return (
    <Link to="/threads/$threadId" params={{ threadId: subject }}>
      <Code>{subject}</Code>
    </Link>
  );
}
