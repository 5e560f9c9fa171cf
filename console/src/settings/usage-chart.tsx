import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { type Series, successName } from './usage-series.ts';

interface UsageChartProps {
  /** Days, or the times at which hours start. */
  readonly periods: readonly string[];
  readonly series: readonly Series[];
  readonly height: number;
}

/** Neighboring colors differ in lightness, too, because not everyone can distinguish hues. */
const colors = ['indigo.6', 'orange.5', 'grape.8', 'red.4', 'cyan.8', 'gray.5'];
/** Successful requests have the same color in every chart. */
const successColor = 'teal.7';
const hourLabel = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const dayLabel = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Hidden from screen readers: the table below it says the same. */
export function UsageChart({ periods, series, height }: UsageChartProps) {
  const data = periods.map((period, index) => ({
    period: (period.includes('T') ? hourLabel : dayLabel).format(new Date(period)),
    ...Object.fromEntries(series.map(({ name, requests }) => [name, requests[index] ?? 0])),
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
          name,
          color: name === successName ? successColor : (colors[index] ?? 'gray.5'),
        }))}
        yAxisProps={{ allowDecimals: false }}
        valueFormatter={(value) => value.toLocaleString()}
        barChartProps={{ accessibilityLayer: false }}
      />
    </div>
  );
}
