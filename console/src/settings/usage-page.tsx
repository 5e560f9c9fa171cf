import { Progress, SegmentedControl, Skeleton, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { usageOptions } from '../api/queries.ts';
import { Failure } from '../app/failure.tsx';
import { formatNumber } from '../app/format-count.ts';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { EmptyState } from './empty-state.tsx';
import { Section } from './section.tsx';
import { BreakableName } from './table-cells.tsx';
import classes from './usage-page.module.css';
import { type Dimension, dimensions, type Series, toSeries } from './usage-series.ts';
import { TableHead, Traffic } from './usage-traffic.tsx';

/** Loaded separately: the charts are half the size of the rest of the page. */
const UsageChart = lazy(() =>
  import('./usage-chart.tsx').then(({ UsageChart: chart }) => ({ default: chart })),
);
const chartHeight = 280;

const ranges = { '24h': '24 hours', '7d': '7 days', '30d': '30 days', '90d': '90 days' } as const;
type Range = keyof typeof ranges;

export function UsagePage() {
  const { id, role } = useOrganization();
  const { range = '30d' } = useSearch({ from: '/signedIn/settings/usage' });
  const { data, error, refetch } = useQuery(usageOptions(id, range));
  return (
    <Page
      title="Usage"
      width="wide"
      description={
        role === 'admin'
          ? 'API requests made with the organization’s credentials.'
          : 'The organization’s quota and requests made with your keys.'
      }
      actions={<RangeChoice range={range} isAdmin={role === 'admin'} />}
    >
      {error !== null && <Failure error={error} title="Couldn’t load usage" onRetry={() => refetch()} />}
      {error === null && data === undefined && <Skeleton height={420} aria-busy="true" />}
      {data !== undefined && (
        <Stack gap="lg">
          <Quota {...data.quota} />
          <Requests usage={data} range={range} />
          {data.traffic !== null && (
            <Traffic traffic={data.traffic} from={dayAt(data, 0)} to={dayAt(data, -1)} />
          )}
        </Stack>
      )}
    </Page>
  );
}

/** Members have counts by day only. */
function RangeChoice({ range, isAdmin }: { range: Range; isAdmin: boolean }) {
  const navigate = useNavigate({ from: '/settings/usage' });
  const offered = Object.entries(ranges).filter(([value]) => isAdmin || value !== '24h');
  return (
    <SegmentedControl
      size="xs"
      aria-label="Time range"
      data={offered.map(([value, label]) => ({ value, label }))}
      value={range}
      onChange={(value) => void navigate({ search: { range: value as Range }, replace: true })}
    />
  );
}

function dayAt({ periods }: Json<'usage'>, index: number): string {
  return (periods.at(index) ?? '').slice(0, 10);
}

function Quota({ used, limit, resetsAt }: Json<'usage'>['quota']) {
  const taken = Math.min(used, limit);
  const percent = limit === 0 ? 100 : (taken / limit) * 100;
  return (
    <Section
      title="Today’s quota"
      aside={
        <Text size="sm" c="dimmed">
          Resets {untilReset(resetsAt)}, at midnight UTC
        </Text>
      }
    >
      <Text mb={6}>
        <Text span fw={650} size="xl">
          {formatNumber(taken)}
        </Text>{' '}
        of {formatNumber(limit)} requests used, {formatNumber(limit - taken)} left
      </Text>
      <Progress
        value={percent}
        size="lg"
        aria-label="Share of today’s quota used"
        color={percent >= 90 ? 'red' : 'indigo'}
      />
      {percent >= 90 && (
        <Text size="sm" mt={6}>
          {percent >= 100 ? 'Quota used up. Requests are rejected until it resets.' : 'Less than 10% left.'}
        </Text>
      )}
    </Section>
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

function Requests({ usage, range }: { usage: Json<'usage'>; range: Range }) {
  const [chosen, setDimension] = useState<Dimension>('outcome');
  // Hourly counts are not split by credential, nor are those of an organization with too many credentials.
  const hasCredentials = usage.counts.some(({ credential }) => credential !== null);
  const offered = dimensions.filter((value) => hasCredentials || value !== 'credential');
  const dimension = offered.includes(chosen) ? chosen : 'outcome';
  const series = toSeries(usage, dimension);
  return (
    <Section
      title="Requests"
      aside={
        <SegmentedControl
          size="xs"
          aria-label="Group requests by"
          data={offered.map((value) => ({ value, label: labels[value] }))}
          value={dimension}
          onChange={(value) => setDimension(value as Dimension)}
        />
      }
    >
      {usage.isCut && (
        <Text size="sm" mb="sm">
          There’s too much data to show, so earlier days are left out. Choose a shorter time range.
        </Text>
      )}
      {series.length === 0 ? (
        <EmptyState title="No requests yet">
          Requests with an API key or an application token appear here within a second.
        </EmptyState>
      ) : (
        <>
          <Suspense fallback={<Skeleton height={chartHeight} />}>
            <UsageChart periods={usage.periods} series={series} height={chartHeight} />
          </Suspense>
          <Totals
            series={series}
            heading={labels[dimension]}
            latest={range === '24h' ? 'This hour' : 'Today'}
          />
        </>
      )}
    </Section>
  );
}

interface TotalsProps {
  readonly series: readonly Series[];
  readonly heading: string;
  /** The last period, in words. */
  readonly latest: string;
}

/** The chart in numbers, for those who cannot see it or want exact values. */
function Totals({ series, heading, latest }: TotalsProps) {
  const all = series.reduce((total, one) => total + one.total, 0);
  return (
    <Table mt="md" horizontalSpacing={4} className={classes.figures}>
      <TableHead names={[heading, 'Requests', latest, 'Share']} />
      <Table.Tbody>
        {series.map(({ name, total, requests }) => (
          <Table.Tr key={name}>
            <Table.Td className={classes.name}>
              <BreakableName name={name} />
            </Table.Td>
            <Table.Td>{formatNumber(total)}</Table.Td>
            <Table.Td>{formatNumber(requests.at(-1) ?? 0)}</Table.Td>
            <Table.Td>{Math.round((total / all) * 100)}%</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
