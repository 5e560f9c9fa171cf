import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { formatNumber } from '../app/format-count.ts';
import { formatHour, formatUtcDay } from '../app/format-time.ts';
import { type Series, successName } from './usage-series.ts';

interface UsageChartProps {
  /** Days, or the times at which hours start. */
  readonly periods: readonly string[];
  readonly series: readonly Series[];
  readonly height: number;
}

/** Neighboring colors also differ in lightness, because not everyone can distinguish hues. */
const colors = ['indigo.6', 'orange.5', 'grape.8', 'red.4', 'cyan.8', 'gray.5'];
/** Successful requests have the same color in every chart. */
const successColor = 'teal.7';

/** Hidden from screen readers: the table below it says the same. */
export function UsageChart({ periods, series, height }: UsageChartProps) {
  const data = periods.map((period, index) => ({
    period: (period.includes('T') ? formatHour : formatUtcDay)(new Date(period)),
    // By position, because a credential can have any name.
    ...series.map(({ requests }) => requests[index] ?? 0),
  }));
  return (
    <div aria-hidden="true">
      <BarChart
        h={height}
        data={data}
        dataKey="period"
        type="stacked"
        withLegend
        legendProps={{ verticalAlign: 'bottom' }}
        series={series.map(({ name }, index) => ({
          name: String(index),
          label: name,
          color: name === successName ? successColor : (colors[index] ?? 'gray.5'),
        }))}
        yAxisProps={{ allowDecimals: false }}
        valueFormatter={formatNumber}
        barChartProps={{ accessibilityLayer: false }}
      />
    </div>
  );
}
