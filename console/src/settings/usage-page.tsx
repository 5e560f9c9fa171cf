import { Group, Paper, Progress, SegmentedControl, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { UsageJson } from '../api/contract.ts';
import { usageOptions } from '../api/queries.ts';
import { Failure } from '../app/failure.tsx';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { EmptyState } from './empty-state.tsx';
import { OutsideBeta } from './outside-beta.tsx';
import { type Dimension, dimensions, type Series, toSeries } from './usage-series.ts';

/** Charts are half as large again as all the rest of the page. */
const UsageChart = lazy(() =>
  import('./usage-chart.tsx').then(({ UsageChart: chart }) => ({ default: chart })),
);
const chartHeight = 280;

export function UsagePage() {
  const { id, role, apiEnabled } = useOrganization();
  const { data, error, refetch } = useQuery({ ...usageOptions(id), enabled: apiEnabled });
  if (!apiEnabled) return <OutsideBeta title="Usage" />;
  return (
    <Page
      title="Usage"
      width="wide"
      description={
        role === 'admin'
          ? 'API requests by all of the organization’s credentials.'
          : 'The organization’s quota and requests made with your keys.'
      }
    >
      {error !== null && <Failure error={error} title="Couldn’t load usage" onRetry={() => refetch()} />}
      {error === null && data === undefined && <Skeleton height={420} aria-busy="true" />}
      {data !== undefined && (
        <Stack gap="lg">
          <Quota {...data.quota} />
          <Requests usage={data} />
        </Stack>
      )}
    </Page>
  );
}

function Quota({ used, limit, resetsAt }: UsageJson['quota']) {
  const taken = Math.min(used, limit);
  const part = limit === 0 ? 100 : (taken / limit) * 100;
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="quota">
      <Group justify="space-between" align="baseline" mb="xs">
        <Title order={2} id="quota">
          Today's quota
        </Title>
        <Text size="sm" c="dimmed">
          Resets {untilReset(resetsAt)}, at midnight UTC
        </Text>
      </Group>
      <Text mb={6}>
        <Text span fw={650} size="xl">
          {taken.toLocaleString()}
        </Text>{' '}
        of {limit.toLocaleString()} requests used, {(limit - taken).toLocaleString()} left
      </Text>
      <Progress
        value={part}
        size="lg"
        aria-label="Share of today’s quota used"
        color={part >= 90 ? 'red' : 'indigo'}
      />
      {part >= 90 && (
        <Text size="sm" mt={6}>
          {part >= 100 ? 'Quota used up. Requests are rejected until it resets.' : 'Less than 10% left.'}
        </Text>
      )}
    </Paper>
  );
}

function untilReset(resetsAt: string): string {
  const minutes = Math.max(1, Math.round((Date.parse(resetsAt) - Date.now()) / 60_000));
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `in ${minutes} min` : `in ${hours} h ${minutes % 60} min`;
}

const labels: Record<Dimension, string> = {
  outcome: 'Outcome',
  operation: 'Operation',
  credential: 'Credential',
};

function Requests({ usage }: { usage: UsageJson }) {
  const [dimension, setDimension] = useState<Dimension>('outcome');
  const series = toSeries(usage, dimension);
  return (
    <Paper withBorder p={{ base: 'sm', xs: 'lg' }} component="section" aria-labelledby="requests">
      <Group justify="space-between" mb="md">
        <Title order={2} id="requests">
          Last {usage.days.length} days
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="Group requests by"
          data={dimensions.map((value) => ({ value, label: labels[value] }))}
          value={dimension}
          onChange={(value) => setDimension(value as Dimension)}
        />
      </Group>
      {series.length === 0 ? (
        <EmptyState title="No requests yet">
          Requests with an API key or an application token appear here within a second.
        </EmptyState>
      ) : (
        <>
          <Suspense fallback={<Skeleton height={chartHeight} />}>
            <UsageChart days={usage.days} series={series} height={chartHeight} />
          </Suspense>
          <Totals series={series} heading={labels[dimension]} />
        </>
      )}
    </Paper>
  );
}

/** The chart in numbers, also for those who cannot see it. */
function Totals({ series, heading }: { series: readonly Series[]; heading: string }) {
  const all = series.reduce((total, one) => total + one.total, 0);
  return (
    <Table mt="md" horizontalSpacing={4}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{heading}</Table.Th>
          <Table.Th scope="col" ta="end">
            Requests
          </Table.Th>
          <Table.Th scope="col" ta="end">
            Today
          </Table.Th>
          <Table.Th scope="col" ta="end">
            Share
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {series.map(({ name, total, requests }) => (
          <Table.Tr key={name}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{name}</Table.Td>
            <Table.Td ta="end">{total.toLocaleString()}</Table.Td>
            <Table.Td ta="end">{(requests.at(-1) ?? 0).toLocaleString()}</Table.Td>
            <Table.Td ta="end">{Math.round((total / all) * 100)} %</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
