import { Badge, Button, Code, Group, Text, UnstyledButton } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { RequestJson } from '../api/contract.ts';
import { requestsOptions } from '../api/queries.ts';
import { Failure } from '../app/failure.tsx';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { momentOf } from '../app/time-words.ts';
import { AdminsOnly } from './admins-only.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { OutsideBeta } from './outside-beta.tsx';
import { RequestDetails } from './request-details.tsx';
import { RequestFilters } from './request-filters.tsx';
import { latencyText, operationName, statusColor } from './request-words.ts';
import classes from './requests-page.module.css';
import { When } from './when.tsx';

export function RequestsPage() {
  const { role, apiEnabled } = useOrganization();
  if (role !== 'admin') return <AdminsOnly title="Requests" />;
  return apiEnabled ? <Requests /> : <OutsideBeta title="Requests" />;
}

/** A filter searches the log part by part. Parts without a match are skipped up to this number before a person is asked. */
const emptyPagesMax = 5;

function Requests() {
  const { id } = useOrganization();
  const search = useSearch({ from: '/door/settings/requests' });
  const [opened, setOpened] = useState<RequestJson>();
  const { trace, credential, ...filter } = search;
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetching, isFetchingNextPage } =
    useInfiniteQuery(requestsOptions(id, { ...filter, traceId: trace, credentialId: credential }));
  const pages = data?.pages ?? [];
  const rows = data && pages.flatMap(({ requests }) => requests);
  const searchesOn = rows?.length === 0 && hasNextPage && pages.length < emptyPagesMax;
  useEffect(() => {
    if (searchesOn && !isFetching) fetchNextPage();
  }, [searchesOn, isFetching, fetchNextPage]);
  const searchedTo = pages.at(-1)?.searchedTo ?? null;
  const keptDays = pages[0]?.keptDays ?? null;

  return (
    <Page
      title="Requests"
      width="wide"
      description={`API requests of the organization, newest first${
        keptDays === null ? '' : `, kept for ${keptDays} ${keptDays === 1 ? 'day' : 'days'}`
      }. A request appears here within a second or two.`}
      actions={
        <Button
          variant="default"
          size="xs"
          loading={isFetching && !isFetchingNextPage}
          onClick={() => refetch()}
        >
          Refresh
        </Button>
      }
    >
      <RequestFilters search={search} />
      {error !== null && <Failure error={error} title="Couldn’t load requests" onRetry={() => refetch()} />}
      {error === null && (
        <DataTable
          caption="Requests"
          rows={searchesOn ? undefined : rows}
          columns={columns(setOpened)}
          empty={<NoRequests search={search} searchedTo={searchedTo} />}
        />
      )}
      {hasNextPage && !searchesOn && (
        <Group justify="center" mt="md">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {rows?.length === 0 ? 'Search further back' : 'Load more'}
          </Button>
        </Group>
      )}
      <RequestDetails request={opened} onClose={() => setOpened(undefined)} />
    </Page>
  );
}

function columns(open: (request: RequestJson) => void): Column<RequestJson>[] {
  return [
    {
      heading: 'Status',
      cell: ({ status, error }) => (
        <Group gap={8} wrap="nowrap" className={classes.status}>
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
    { heading: 'Latency', cell: ({ ms }) => <span className={classes.number}>{latencyText(ms)}</span> },
    { heading: 'Credential', cell: ({ credential }) => credential.name },
    { heading: 'Trace ID', cell: ({ id }) => <Code title={id}>{id.slice(0, 8)}</Code> },
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
        The log has authenticated API requests of this organization. Actions in the console are in the audit
        log, and requests with an invalid credential belong to no organization.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No matching requests">
      {searchedTo === null
        ? 'No request in the log matches these filters.'
        : `No match since ${momentOf(new Date(searchedTo))}.`}
    </EmptyState>
  );
}
