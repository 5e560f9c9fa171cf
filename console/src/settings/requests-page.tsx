import { Badge, Button, Code, Group, Text, UnstyledButton } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Json } from '../api/contract.ts';
import { requestsOptions } from '../api/queries.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { counted } from '../app/format-count.ts';
import { formatDateTime } from '../app/format-time.ts';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import type { Column } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { LogTable } from './log-table.tsx';
import { RequestDetails } from './request-details.tsx';
import { RequestFilters } from './request-filters.tsx';
import { formatLatency, operationName, shortTraceId, statusColor } from './request-labels.ts';
import classes from './requests-page.module.css';
import { Name, When } from './table-cells.tsx';

export function RequestsPage() {
  const { id } = useOrganization();
  const search = useSearch({ from: '/signedIn/settings/requests' });
  const [opened, setOpened] = useState<Json<'request'>>();
  const { trace, credential, ...filter } = search;
  const list = useInfiniteQuery(requestsOptions(id, { ...filter, traceId: trace, credentialId: credential }));
  const pages = list.data?.pages;
  const keptDays = pages?.[0]?.keptDays ?? null;
  return (
    <Page
      title="Requests"
      width="wide"
      description={`The organization’s API requests, newest first${
        keptDays === null ? '' : `, kept for ${counted(keptDays, 'day')}`
      }. New requests appear within a second or two.`}
      actions={
        <Button
          variant="default"
          loading={list.isFetching && !list.isFetchingNextPage}
          onClick={() => list.refetch()}
        >
          Refresh
        </Button>
      }
    >
      <RequestFilters search={search} />
      <LogTable
        caption="Requests"
        query={list}
        failure="Couldn’t load requests"
        rows={pages?.flatMap(({ requests }) => requests)}
        columns={columns(setOpened)}
        empty={<NoRequests search={search} searchedTo={pages?.at(-1)?.searchedTo ?? null} />}
      />
      <RequestDetails request={opened} onClose={() => setOpened(undefined)} />
    </Page>
  );
}

function columns(open: (request: Json<'request'>) => void): Column<Json<'request'>>[] {
  return [
    {
      heading: 'Status',
      cell: ({ status, error }) => (
        <Group gap={8} wrap="nowrap">
          <Badge variant="light" color={statusColor(status)} radius="sm" className={classes.badge}>
            {status}
          </Badge>
          {error !== null && (
            <Text span size="xs" c="dimmed" className={classes.code}>
              {error.code}
            </Text>
          )}
        </Group>
      ),
    },
    {
      heading: 'Operation',
      cell: (request) => (
        <UnstyledButton className={classes.open} onClick={() => open(request)}>
          {operationName(request)}
        </UnstyledButton>
      ),
    },
    { heading: 'Latency', cell: ({ ms }) => <span className={classes.number}>{formatLatency(ms)}</span> },
    { heading: 'Credential', cell: ({ credential }) => <Name {...credential} /> },
    {
      heading: 'Trace ID',
      cell: ({ id }) => (
        <Group gap={4} wrap="nowrap">
          <Code title={id}>{shortTraceId(id)}</Code>
          <CopyButton compact value={id} label="Copy trace ID" />
        </Group>
      ),
    },
    { heading: 'When', cell: ({ at }) => <When iso={at} exact /> },
  ];
}

function NoRequests({ search, searchedTo }: { search: object; searchedTo: string | null }) {
  if (Object.keys(search).length === 0) {
    return (
      <EmptyState title="No requests yet">
        Requests with an API key or an application token appear here.
      </EmptyState>
    );
  }
  if ('trace' in search) {
    return (
      <EmptyState title="No request with this trace ID">
        Enter the full trace ID. The log contains this organization’s authenticated API requests. Actions in
        the console are in the audit log. Requests with an invalid credential belong to no organization.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No matching requests">
      {searchedTo === null
        ? 'No request in the log matches these filters.'
        : `No match since ${formatDateTime(new Date(searchedTo))}.`}
    </EmptyState>
  );
}
