import { Button, Group, Skeleton, Table, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Failure } from '../app/failure.tsx';
import { formatNumber } from '../app/format-count.ts';
import classes from './data-table.module.css';

export interface Column<Row> {
  readonly heading: string;
  /** Only read by screen readers: for a column of buttons. */
  readonly headingHidden?: boolean;
  /** Hidden on tablets, where the table would not fit otherwise. */
  readonly secondary?: boolean;
  /** Makes the column sortable by this value. */
  readonly sortBy?: (row: Row) => string | number;
  readonly cell: (row: Row) => ReactNode;
}

export interface DataTableProps<Row extends { readonly id: string }> {
  /** Says what the table shows, for people who cannot see the heading above it. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while they are being loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly empty: ReactNode;
  /** Where the rows come from. */
  readonly query: { readonly error: Error | null; readonly refetch: () => unknown };
  /** The title of an error: "Couldn’t load members". */
  readonly failure: string;
}

/** More rows would block the page for a while, so they are shown on request. */
const rowsAtFirst = 200;

/** A table that becomes a list of cards where it would not fit. */
export function DataTable<Row extends { readonly id: string }>(props: DataTableProps<Row>) {
  const { caption, columns, rows, empty, query, failure } = props;
  const [showsAll, setShowsAll] = useState(false);
  const [order, setOrder] = useState<Order>();
  const error = query.error !== null && (
    <Failure error={query.error} title={failure} onRetry={() => query.refetch()} />
  );
  if (rows === undefined) return error || <LoadingRows />;
  if (rows.length === 0) return error || empty;
  const sorted = inOrder(rows, columns, order);
  return (
    <div className={classes.box}>
      {error}
      <Table className={classes.table} verticalSpacing="sm" highlightOnHover>
        <Table.Caption className={classes.caption}>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Heading key={column.heading} column={column} order={order} onOrder={setOrder} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {(showsAll ? sorted : sorted.slice(0, rowsAtFirst)).map((row) => (
            <Table.Tr key={row.id} data-testid={row.id}>
              {columns.map(({ heading, headingHidden, secondary, cell }) => (
                <Table.Td
                  key={heading}
                  data-label={headingHidden ? undefined : heading}
                  data-secondary={secondary}
                >
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {!showsAll && rows.length > rowsAtFirst && (
        <Group justify="center" mt="md">
          <Button variant="default" onClick={() => setShowsAll(true)}>
            Show all {formatNumber(rows.length)}
          </Button>
        </Group>
      )}
    </div>
  );
}

interface Order {
  readonly heading: string;
  readonly descending: boolean;
}

interface HeadingProps<Row> {
  readonly column: Column<Row>;
  readonly order: Order | undefined;
  readonly onOrder: (order: Order) => void;
}

function Heading<Row>({ column, order, onOrder }: HeadingProps<Row>) {
  const { heading, headingHidden, secondary, sortBy } = column;
  const current = order?.heading === heading ? order : undefined;
  const Arrow = current?.descending ? IconArrowDown : IconArrowUp;
  return (
    <Table.Th
      scope="col"
      data-secondary={secondary}
      {...(current && { 'aria-sort': current.descending ? 'descending' : 'ascending' })}
    >
      {sortBy === undefined ? (
        <span className={headingHidden ? classes.hidden : undefined}>{heading}</span>
      ) : (
        <UnstyledButton
          className={classes.sort}
          onClick={() => onOrder({ heading, descending: current !== undefined && !current.descending })}
        >
          {heading}
          {current && <Arrow size={14} aria-hidden />}
        </UnstyledButton>
      )}
    </Table.Th>
  );
}

function inOrder<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | undefined,
): readonly Row[] {
  const sortBy = columns.find(({ heading }) => heading === order?.heading)?.sortBy;
  if (sortBy === undefined) return rows;
  const compare = (one: string | number, other: string | number) =>
    typeof one === 'number' && typeof other === 'number'
      ? one - other
      : String(one).localeCompare(String(other));
  const sorted = rows.toSorted((one, other) => compare(sortBy(one), sortBy(other)));
  return order?.descending ? sorted.reverse() : sorted;
}

function LoadingRows() {
  return (
    <div aria-busy="true">
      {[0, 1, 2].map((line) => (
        <Skeleton key={line} height={44} mb="xs" />
      ))}
    </div>
  );
}
