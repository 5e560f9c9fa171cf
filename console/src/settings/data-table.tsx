import { Button, Group, Skeleton, Table } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import classes from './data-table.module.css';

export interface Column<Row> {
  readonly heading: string;
  /** Not shown above a column of buttons, and still read aloud. */
  readonly headingHidden?: boolean;
  /** Left out on a tablet, where the table would not fit otherwise. */
  readonly secondary?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

interface DataTableProps<Row extends { readonly id: string }> {
  /** What the table is of, for those who cannot see the heading above it. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while it is being loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly empty: ReactNode;
}

/** More would keep a page busy for a while: they are shown when they are asked for. */
const rowsAtFirst = 200;

/** A table that becomes a list of cards where it would not fit. */
export function DataTable<Row extends { readonly id: string }>(props: DataTableProps<Row>) {
  const { caption, columns, rows, empty } = props;
  const [whole, setWhole] = useState(false);
  if (rows === undefined) return <Waiting />;
  if (rows.length === 0) return <>{empty}</>;
  return (
    <div className={classes.box}>
      <Table className={classes.table} verticalSpacing="sm" highlightOnHover>
        <Table.Caption className={classes.caption}>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ heading, headingHidden, secondary }) => (
              <Table.Th key={heading} scope="col" data-secondary={secondary}>
                <span className={headingHidden ? classes.hidden : undefined}>{heading}</span>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {(whole ? rows : rows.slice(0, rowsAtFirst)).map((row) => (
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
      {!whole && rows.length > rowsAtFirst && (
        <Group justify="center" mt="md">
          <Button variant="default" onClick={() => setWhole(true)}>
            Show all {rows.length.toLocaleString()}
          </Button>
        </Group>
      )}
    </div>
  );
}

function Waiting() {
  return (
    <div aria-busy="true">
      {[0, 1, 2].map((line) => (
        <Skeleton key={line} height={44} mb="xs" />
      ))}
    </div>
  );
}
