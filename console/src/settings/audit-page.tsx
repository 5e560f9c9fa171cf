import { Button, Code, Group, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { AuditEventJson } from '../api/contract.ts';
import { auditExportUrl, auditOptions, membersOptions } from '../api/queries.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { Failure } from '../app/failure.tsx';
import type { AuditSearch } from '../app/log-search.ts';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { AdminsOnly } from './admins-only.tsx';
import { actions, describeAction, describeDetail } from './audit-words.ts';
import tableClasses from './data-table.module.css';
import { type Column, DataTable } from './data-table.tsx';
import { Email } from './email.tsx';
import { EmptyState } from './empty-state.tsx';
import { DayFields, FilterSelect, TraceField } from './log-filters.tsx';
import filterClasses from './requests-page.module.css';
import { When } from './when.tsx';

export function AuditPage() {
  const { role } = useOrganization();
  return role === 'admin' ? <Audit /> : <AdminsOnly title="Audit log" />;
}

/** A search reads the log part by part. Parts without a match are skipped up to this number before a person is asked. */
const emptyPagesMax = 5;

function Audit() {
  const { id } = useOrganization();
  const search = useSearch({ from: '/door/settings/audit' });
  const { trace, ...rest } = search;
  const filter = { ...rest, traceId: trace };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetching, isFetchingNextPage } =
    useInfiniteQuery(auditOptions(id, filter));
  const rows = data?.pages.flatMap(({ events }) => events);
  const searchesOn = rows?.length === 0 && hasNextPage && data!.pages.length < emptyPagesMax;
  useEffect(() => {
    if (searchesOn && !isFetching) fetchNextPage();
  }, [searchesOn, isFetching, fetchNextPage]);
  return (
    <Page
      title="Audit log"
      width="wide"
      description="Who did what, and when. Newest first."
      actions={
        <Button
          component="a"
          href={auditExportUrl(id, filter)}
          download="audit-log.csv"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Export CSV
        </Button>
      }
    >
      <AuditFilters search={search} />
      {error !== null && (
        <Failure error={error} title="Couldn’t load the audit log" onRetry={() => refetch()} />
      )}
      {error === null && (
        <DataTable
          caption="Audit log"
          rows={searchesOn ? undefined : rows}
          columns={columns}
          empty={<NoEntries search={search} />}
        />
      )}
      {hasNextPage && !searchesOn && (
        <Group justify="center" mt="md">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {rows?.length === 0 ? 'Search further back' : 'Load more'}
          </Button>
        </Group>
      )}
    </Page>
  );
}

/** The filters are in the address, so that a filtered log can be linked to. */
function AuditFilters({ search }: { search: AuditSearch }) {
  const { id } = useOrganization();
  const { data } = useQuery(membersOptions(id));
  const navigate = useNavigate({ from: '/settings/audit' });
  const set = (change: AuditSearch) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const people = [
    ...(data?.members ?? []).map(({ id, email }) => ({ value: id, label: email })),
    { value: 'operator', label: 'Operator' },
    { value: 'skein', label: 'Skein' },
  ];
  return (
    <search className={filterClasses.filters}>
      <TraceField trace={search.trace ?? ''} onChange={(trace) => set({ trace })} />
      <FilterSelect
        label="Person"
        placeholder="Anyone"
        searchable
        nothingFoundMessage="No such member"
        data={people}
        value={search.actor}
        onChange={(actor) => set({ actor })}
      />
      <FilterSelect
        label="Action"
        searchable
        nothingFoundMessage="No such action"
        comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
        data={Object.entries(actions).map(([value, label]) => ({ value, label }))}
        value={search.action}
        onChange={(action) => set({ action })}
      />
      <DayFields from={search.from} to={search.to} onChange={set} />
    </search>
  );
}

function NoEntries({ search }: { search: AuditSearch }) {
  if (search.trace !== undefined) {
    return (
      <EmptyState title="No entries with this trace ID">
        The audit log records changes, sign-ins and failed replies.{' '}
        <Link to="/settings/requests" search={{ trace: search.trace }}>
          Look for an API request with this trace ID
        </Link>
      </EmptyState>
    );
  }
  if (Object.keys(search).length > 0)
    return <EmptyState title="No matching entries">No entry matches these filters.</EmptyState>;
  return <EmptyState title="No activity yet">Changes to settings appear here.</EmptyState>;
}

const columns: Column<AuditEventJson>[] = [
  { heading: 'When', cell: ({ at }) => <When iso={at} exact /> },
  { heading: 'Who', cell: ({ actor }) => <Email address={actor} /> },
  { heading: 'Action', cell: ({ action }) => describeAction(action) },
  {
    heading: 'Target',
    cell: (event) => (
      <div className={tableClasses.breaksAnywhere}>
        <Target {...event} />
        <Text size="xs" c="dimmed">
          {describeDetail(event.detail, event.target)}
        </Text>
      </div>
    ),
  },
  {
    heading: 'Trace ID',
    secondary: true,
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

/** Where the things of the log are shown, by the prefix of their ids. */
const pages = {
  usr: '/settings/members',
  key: '/settings/keys',
  app: '/settings/applications',
} as const;

/** The thing by its name, linked to where it is shown. */
function Target({ subject, target }: AuditEventJson) {
  const prefix = subject.split('_', 1)[0] as keyof typeof pages | 'thr' | 'org' | 'doc';
  const name = target === null ? undefined : <Email address={target} />;
  if (prefix === 'org') return <>The organization</>;
  if (prefix === 'thr') {
    return (
      <Link to="/threads/$threadId" params={{ threadId: subject }} title={subject}>
        {name ?? `Thread …${subject.slice(-6)}`}
      </Link>
    );
  }
  if (prefix === 'doc') {
    return (
      <Link to="/documents/$documentId" params={{ documentId: subject }} title={subject}>
        {name ?? <Code>{subject}</Code>}
      </Link>
    );
  }
  if (!(prefix in pages)) return name ?? <Code>{subject}</Code>;
  return (
    <Link to={pages[prefix]} title={subject}>
      {name ?? <Code>{subject}</Code>}
    </Link>
  );
}
