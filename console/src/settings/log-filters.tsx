import { Select, type SelectProps, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useState } from 'react';

/** A search field for a trace ID, which reports what was typed after a short pause. */
export function TraceField({ trace, onChange }: { trace: string; onChange: (trace: string) => void }) {
  const [typed, setTyped] = useState(trace);
  const report = useDebouncedCallback(onChange, 250);
  useEffect(() => setTyped(trace), [trace]);
  return (
    <TextInput
      label="Trace ID"
      type="search"
      placeholder="From an error or X-Request-Id"
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        report(event.currentTarget.value.trim());
      }}
    />
  );
}

interface FilterSelectProps extends Omit<SelectProps, 'data' | 'onChange' | 'value'> {
  readonly data: { readonly value: string; readonly label: string }[];
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

/** One of the choices, or an empty text for all. An unknown value from a link is shown unchanged. */
export function FilterSelect({ data, value, onChange, ...rest }: FilterSelectProps) {
  const chosen = value || null;
  const isKnown = chosen === null || data.some((choice) => choice.value === chosen);
  return (
    <Select
      placeholder="Any"
      clearable
      data={isKnown ? data : [...data, { value: chosen, label: chosen }]}
      value={chosen}
      onChange={(next) => onChange(next ?? '')}
      {...rest}
    />
  );
}

interface DayFieldsProps {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly onChange: (change: { from?: string; to?: string }) => void;
}

/** The first and the last day, in UTC like the days of the usage page. */
export function DayFields({ from, to, onChange }: DayFieldsProps) {
  return (
    <>
      <TextInput
        type="date"
        label="From (UTC)"
        value={from ?? ''}
        max={to}
        onChange={(event) => onChange({ from: event.currentTarget.value })}
      />
      <TextInput
        type="date"
        label="To (UTC)"
        value={to ?? ''}
        min={from}
        onChange={(event) => onChange({ to: event.currentTarget.value })}
      />
    </>
  );
}
