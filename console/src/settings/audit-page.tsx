import { Button, Code, Group, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Json } from '../api/contract.ts';
import { auditExportUrl, auditOptions, membersOptions } from '../api/queries.ts';
import { CopyButton } from '../app/copy-button.tsx';
import type { AuditSearch } from '../app/log-search.ts';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { actions, describeAction, describeDetail } from './audit-labels.ts';
import tableClasses from './data-table.module.css';
import type { Column } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { DayFields, FilterSelect, TraceField } from './log-filters.tsx';
import { LogTable } from './log-table.tsx';
import { shortTraceId } from './request-labels.ts';
import filterClasses from './requests-page.module.css';
import { Email, When } from './table-cells.tsx';

export function AuditPage() {
  const { id } = useOrganization();
  const search = useSearch({ from: '/signedIn/settings/audit' });
  const { trace, ...rest } = search;
  const filter = { ...rest, traceId: trace };
  const list = useInfiniteQuery(auditOptions(id, filter));
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
      <LogTable
        caption="Audit log"
        query={list}
        failure="Couldn’t load the audit log"
        rows={list.data?.pages.flatMap(({ events }) => events)}
        columns={columns}
        empty={<NoEntries search={search} />}
      />
    </Page>
  );
}

/** The filters are in the URL, so that a filtered log can be shared. */
function AuditFilters({ search }: { search: AuditSearch }) {
  const { id } = useOrganization();
  const { data } = useQuery(membersOptions(id));
  const navigate = useNavigate({ from: '/settings/audit' });
  const set = (change: AuditSearch) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const actors = [
    ...(data?.members ?? []).map(({ id, email }) => ({ value: id, label: email })),
    { value: 'operator', label: 'Operator' },
    { value: 'skein', label: 'Skein' },
  ];
  return (
    <search className={filterClasses.filters}>
      <TraceField trace={search.trace ?? ''} onChange={(trace) => set({ trace })} />
      <FilterSelect
        label="Actor"
        placeholder="Anyone"
        searchable
        nothingFoundMessage="No matching actor"
        data={actors}
        value={search.actor}
        onChange={(actor) => set({ actor })}
      />
      <FilterSelect
        label="Action"
        searchable
        nothingFoundMessage="No matching action"
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
        Enter the full trace ID. The audit log records changes, sign-ins and failed replies.{' '}
        <Link to="/settings/requests" search={{ trace: search.trace }}>
          Search the API requests for this trace ID
        </Link>
      </EmptyState>
    );
  }
  if (Object.keys(search).length > 0)
    return <EmptyState title="No matching entries">No entry matches these filters.</EmptyState>;
  return <EmptyState title="No activity yet">Changes to settings appear here.</EmptyState>;
}

const columns: Column<Json<'auditEvent'>>[] = [
  { heading: 'When', cell: ({ at }) => <When iso={at} exact /> },
  { heading: 'Actor', cell: ({ actor }) => <Email address={actor} /> },
  { heading: 'Action', cell: ({ action }) => describeAction(action) },
  {
    heading: 'Target',
    cell: (event) => (
      <div className={tableClasses.target}>
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
    cell: ({ traceId, isLogged }) => (
      <Group gap={4} wrap="nowrap">
        {isLogged ? (
          <Link to="/settings/requests" search={{ trace: traceId }} title="View the API request">
            <Code>{shortTraceId(traceId)}</Code>
          </Link>
        ) : (
          <Code>{shortTraceId(traceId)}</Code>
        )}
        <CopyButton compact value={traceId} label="Copy trace ID" />
      </Group>
    ),
  },
];

/** The pages that show the subjects of entries, by the prefixes of their ids. */
const pages: Record<string, '/settings/members' | '/settings/keys' | '/settings/applications'> = {
  usr: '/settings/members',
  key: '/settings/keys',
  app: '/settings/applications',
};

/** The name of the subject, linked to the page that shows it. */
function Target({ subject, target }: Json<'auditEvent'>) {
  const prefix = subject.split('_', 1)[0]!;
  if (prefix === 'org') return <>The organization</>;
  if (prefix === 'thr') {
    return (
      <Link to="/threads/$threadId" params={{ threadId: subject }} title={subject}>
        {target ?? `Thread …${subject.slice(-6)}`}
      </Link>
    );
  }
  const name = target === null ? <Code>{subject}</Code> : <Email address={target} />;
  if (prefix === 'doc') {
    return (
      <Link to="/documents/$documentId" params={{ documentId: subject }} title={subject}>
        {name}
      </Link>
    );
  }
  const page = pages[prefix];
  if (page === undefined) return name;
  return (
    <Link to={page} title={subject}>
      {name}
    </Link>
  );
}
