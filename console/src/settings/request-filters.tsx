import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { applicationsOptions, keysOptions } from '../api/queries.ts';
import type { RequestSearch } from '../app/log-search.ts';
import { useOrganization } from '../app/session.tsx';
import { DayFields, FilterSelect, TraceField } from './log-filters.tsx';
import { operations } from './request-labels.ts';
import classes from './requests-page.module.css';

const statuses = [
  { value: '2xx', label: '2xx success' },
  { value: '3xx', label: '3xx not modified' },
  { value: '4xx', label: '4xx client error' },
  { value: '5xx', label: '5xx server error' },
  ...['INVALID_PARAMS', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'RATE_LIMITED', 'INTERNAL_ERROR'].map(
    (code) => ({ value: code, label: code }),
  ),
];

/** The filters are in the URL, so that a filtered log can be shared. */
export function RequestFilters({ search }: { search: RequestSearch }) {
  const navigate = useNavigate({ from: '/settings/requests' });
  const set = (change: RequestSearch) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <search className={classes.filters} data-many>
      <TraceField trace={search.trace ?? ''} onChange={(trace) => set({ trace })} />
      <FilterSelect
        label="Status"
        data={statuses}
        value={search.status}
        onChange={(status) => set({ status })}
      />
      <FilterSelect
        label="Operation"
        data={Object.entries(operations).map(([value, label]) => ({ value, label }))}
        value={search.operation}
        onChange={(operation) => set({ operation })}
      />
      <Credential value={search.credential} onChange={(credential) => set({ credential })} />
      <DayFields from={search.from} to={search.to} onChange={set} />
    </search>
  );
}

function Credential({ value, onChange }: { value: string | undefined; onChange: (id: string) => void }) {
  const { id } = useOrganization();
  const { data: keys } = useQuery(keysOptions(id));
  const { data: applications } = useQuery(applicationsOptions(id));
  const known = [
    ...(keys?.keys ?? []).map(({ id, name, hint }) => ({ value: id, label: name || hint })),
    ...(applications?.applications ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <FilterSelect
      label="Credential"
      searchable
      nothingFoundMessage="No matching credential"
      data={known}
      value={value}
      onChange={onChange}
    />
  );
}
