import { type ReactNode, useEffect, useState } from 'react';
import { announce } from '../app/announcer.tsx';
import { counted } from '../app/format-count.ts';
import { SearchField } from '../app/search-field.tsx';
import classes from './data-table.module.css';
import { EmptyState } from './empty-state.tsx';

interface RowFilter<Row> {
  /** The rows that contain all the words, in any order. */
  readonly rows: readonly Row[] | undefined;
  /** Null if there is nothing to filter. */
  readonly field: ReactNode;
  /** Takes the place of the rows if none has the words. */
  readonly noMatch: ReactNode;
}

interface RowFilterOptions<Row> {
  /** What a row shows: "member". */
  readonly noun: string;
  readonly placeholder: string;
  readonly textOf: (row: Row) => string;
}

/** Filters rows that are all loaded. */
export function useRowFilter<Row>(
  all: readonly Row[] | undefined,
  { noun, placeholder, textOf }: RowFilterOptions<Row>,
): RowFilter<Row> {
  const [text, setText] = useState('');
  const words = text.toLowerCase().split(/\s+/);
  const rows = all?.filter((row) => {
    const shown = textOf(row).toLowerCase();
    return words.every((word) => shown.includes(word));
  });
  const found = text.trim() === '' ? undefined : rows?.length;
  useEffect(() => {
    if (found !== undefined) announce(`${counted(found, noun)} found`);
  }, [found, noun]);
  return {
    rows,
    field: all !== undefined && all.length > 0 && (
      <div className={classes.filter}>
        <SearchField label={`Filter ${noun}s`} placeholder={placeholder} text={text} onText={setText} />
      </div>
    ),
    noMatch: found === 0 && all?.length !== 0 && (
      <EmptyState title={`No matching ${noun}s`}>Try fewer words.</EmptyState>
    ),
  };
}
