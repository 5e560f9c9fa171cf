import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { applicationsOptions, keysOptions } from '../api/queries.ts';
import type { RequestSearch } from '../app/log-search.ts';
import { useOrganization } from '../app/session.tsx';
import { DayFields, TraceField } from './log-filters.tsx';
import { operations } from './request-words.ts';
import classes from './requests-page.module.css';

const statuses = [
  { value: '2xx', label: '2xx success' },
  { value: '3xx', label: '3xx not modified' },
  { value: '4xx', label: '4xx client error' },
  { value: '5xx', label: '5xx server error' },
];

/** The filters are in the address, so that a filtered log can be linked to. */
export function RequestFilters({ search }: { search: RequestSearch }) {
  const navigate = useNavigate({ from: '/settings/requests' });
  const set = (change: RequestSearch) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <search className={classes.filters}>
      <TraceField trace={search.trace ?? ''} onChange={(trace) => set({ trace })} />
      <Select
        label="Status"
        placeholder="Any"
        clearable
        data={statuses}
        value={search.status ?? null}
        onChange={(status) => set({ status: status ?? '' })}
      />
      <Select
        label="Operation"
        placeholder="Any"
        clearable
        data={Object.entries(operations).map(([value, label]) => ({ value, label }))}
        value={search.operation ?? null}
        onChange={(operation) => set({ operation: operation ?? '' })}
      />
      <Credential value={search.credential ?? null} onChange={(credential) => set({ credential })} />
      <DayFields from={search.from} to={search.to} onChange={set} />
    </search>
  );
}

function Credential({ value, onChange }: { value: string | null; onChange: (id: string) => void }) {
  const { id } = useOrganization();
  const { data: keys } = useQuery(keysOptions(id));
  const { data: applications } = useQuery(applicationsOptions(id));
  const known = [
    ...(keys?.keys ?? []).map(({ id, name, hint }) => ({ value: id, label: name || hint })),
    ...(applications?.applications ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
  const isKnown = value === null || known.some((one) => one.value === value);
  return (
    <Select
      label="Credential"
      placeholder="Any"
      clearable
      searchable
      nothingFoundMessage="No such credential"
      data={isKnown ? known : [...known, { value: value, label: value }]}
      value={value}
      onChange={(next) => onChange(next ?? '')}
    />
  );
}
