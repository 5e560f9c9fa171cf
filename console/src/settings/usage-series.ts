import type { Json } from '../api/contract.ts';

export const dimensions = ['outcome', 'operation', 'credential'] as const;
export type Dimension = (typeof dimensions)[number];

/** Requests that have one thing in common, by day or hour. */
export interface Series {
  readonly name: string;
  readonly total: number;
  /** In the order of the periods; 0 where there is none. */
  readonly requests: readonly number[];
}

/** More series would be hard to distinguish in a chart. */
const seriesMax = 6;
export const othersName = 'Other';
export const successName = 'Success';

/** The largest first. The rest is combined into one series. */
export function toSeries(
  { periods, counts }: Pick<Json<'usage'>, 'periods' | 'counts'>,
  dimension: Dimension,
): Series[] {
  const all = new Map<string, number[]>();
  for (const count of counts) {
    const place = periods.indexOf(count.period);
    if (place === -1) continue;
    const name = nameSeries(count, dimension);
    const requests = all.get(name) ?? periods.map(() => 0);
    requests[place] = (requests[place] ?? 0) + count.requests;
    all.set(name, requests);
  }
  const series = [...all].map(([name, requests]) => ({ name, requests, total: sum(requests) }));
  series.sort((one, other) => other.total - one.total || one.name.localeCompare(other.name));
  if (series.length <= seriesMax) return series;
  return [...series.slice(0, seriesMax - 1), merge(series.slice(seriesMax - 1))];
}

function nameSeries({ credential, operation, outcome }: Json<'usageCount'>, dimension: Dimension): string {
  switch (dimension) {
    case 'outcome':
      return outcome === 'OK' ? successName : outcome;
    case 'operation':
      return operation;
    case 'credential':
      return credential?.name || credential?.id || othersName;
  }
}

function merge(series: readonly Series[]): Series {
  const requests = (series[0] as Series).requests.map((_, place) =>
    sum(series.map((one) => one.requests[place] ?? 0)),
  );
  return { name: othersName, requests, total: sum(requests) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
