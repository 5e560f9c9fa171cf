import { Grid, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Json } from '../api/contract.ts';
import { formatNumber } from '../app/format-count.ts';
import { EmptyState } from './empty-state.tsx';
import { formatLatency, operations } from './request-labels.ts';
import { Section } from './section.tsx';
import classes from './usage-page.module.css';

interface TrafficProps {
  readonly traffic: Json<'traffic'>;
  /** The days of the range, for links to the request log. */
  readonly from: string;
  readonly to: string;
}

/** How requests and replies went: latency by operation, errors by code, replies by outcome. */
export function Traffic({ traffic, from, to }: TrafficProps) {
  const days = { from, to };
  return (
    <>
      <Latency operations={traffic.operations} days={days} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Errors errors={traffic.errors} days={days} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Replies {...traffic.replies} />
        </Grid.Col>
      </Grid>
    </>
  );
}

interface Days {
  readonly from: string;
  readonly to: string;
}

function Latency({ operations: rows, days }: { operations: Json<'traffic'>['operations']; days: Days }) {
  if (rows.length === 0) return null;
  return (
    <Section title="Latency by operation">
      <Table horizontalSpacing={4} className={`${classes.figures} ${classes.latency}`}>
        <TableHead names={['Operation', 'Requests', 'Errors', 'p50', 'p95', 'p99']} />
        <Table.Tbody>
          {rows.map(({ operation, requests, errors, p50, p95, p99 }) => (
            <Table.Tr key={operation}>
              <Table.Td>
                <Link to="/settings/requests" search={{ operation, ...days }} className={classes.link ?? ''}>
                  {operations[operation] ?? operation}
                </Link>
              </Table.Td>
              <Table.Td>{formatNumber(requests)}</Table.Td>
              <Table.Td>{shareText(errors, requests)}</Table.Td>
              {[p50, p95, p99].map((ms, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a percentile is identified by its position.
                <Table.Td key={index}>{ms === null ? '–' : formatLatency(ms)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="xs" c="dimmed" mt="xs">
        Percentiles are estimates. The latency of requests with Prefer: wait includes the wait.
      </Text>
    </Section>
  );
}

function Errors({ errors, days }: { errors: Json<'traffic'>['errors']; days: Days }) {
  return (
    <Section title="Errors by code">
      {errors.length === 0 ? (
        <EmptyState title="No errors">Failed requests are counted here by their error code.</EmptyState>
      ) : (
        <Table horizontalSpacing={4} className={classes.figures}>
          <TableHead names={['Code', 'Requests']} />
          <Table.Tbody>
            {errors.map(({ code, requests }) => (
              <Table.Tr key={code}>
                <Table.Td>
                  <Link
                    to="/settings/requests"
                    search={{ status: code, ...days }}
                    className={classes.link ?? ''}
                  >
                    {code}
                  </Link>
                </Table.Td>
                <Table.Td>{formatNumber(requests)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  );
}

function Replies({ completed, failed, cancelled, p50, p95 }: Json<'traffic'>['replies']) {
  const all = completed + failed + cancelled;
  return (
    <Section title="Replies by outcome">
      {all === 0 ? (
        <EmptyState title="No replies">Replies are counted here when they end.</EmptyState>
      ) : (
        <>
          <Table horizontalSpacing={4} className={classes.figures}>
            <TableHead names={['Outcome', 'Replies', 'Share']} />
            <Table.Tbody>
              {Object.entries({ Completed: completed, Failed: failed, Cancelled: cancelled }).map(
                ([name, count]) => (
                  <Table.Tr key={name}>
                    <Table.Td>{name}</Table.Td>
                    <Table.Td>{formatNumber(count)}</Table.Td>
                    <Table.Td>{shareText(count, all)}</Table.Td>
                  </Table.Tr>
                ),
              )}
            </Table.Tbody>
          </Table>
          {p50 !== null && p95 !== null && (
            <Text size="xs" c="dimmed" mt="xs">
              Half of the completed replies took less than {formatLatency(p50)}, and 95% less than{' '}
              {formatLatency(p95)}. Includes replies in the console.
            </Text>
          )}
        </>
      )}
    </Section>
  );
}

export function TableHead({ names }: { names: readonly string[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {names.map((name) => (
          <Table.Th key={name} scope="col">
            {name}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

/** `0.4%` */
function shareText(part: number, all: number): string {
  const percent = all === 0 ? 0 : (part / all) * 100;
  return `${percent === 0 || percent >= 10 ? Math.round(percent) : percent.toFixed(1)}%`;
}
