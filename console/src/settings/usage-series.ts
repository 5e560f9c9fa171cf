import type { UsageCountJson, UsageJson } from '../api/contract.ts';

export const dimensions = ['outcome', 'operation', 'credential'] as const;
export type Dimension = (typeof dimensions)[number];

/** Requests that have one thing in common, day by day. */
export interface Series {
  readonly name: string;
  readonly total: number;
  /** By day, in the order of the days; 0 where there is none. */
  readonly requests: readonly number[];
}

/** More series would be hard to distinguish in a chart. */
const seriesMax = 6;
export const othersName = 'Other';
export const successName = 'Success';

/** The largest first; what is left over is one series of its own. */
export function toSeries(
  { days, counts }: Pick<UsageJson, 'days' | 'counts'>,
  dimension: Dimension,
): Series[] {
  const all = new Map<string, number[]>();
  for (const count of counts) {
    const place = days.indexOf(count.day);
    if (place === -1) continue;
    const name = nameOf(count, dimension);
    const requests = all.get(name) ?? days.map(() => 0);
    requests[place] = (requests[place] ?? 0) + count.requests;
    all.set(name, requests);
  }
  const series = [...all].map(([name, requests]) => ({ name, requests, total: sum(requests) }));
  series.sort((one, other) => other.total - one.total || one.name.localeCompare(other.name));
  if (series.length <= seriesMax) return series;
  return [...series.slice(0, seriesMax - 1), merge(series.slice(seriesMax - 1))];
}

function nameOf({ credential, operation, outcome }: UsageCountJson, dimension: Dimension): string {
  switch (dimension) {
    case 'outcome':
      return outcome === 'OK' ? successName : outcome;
    case 'operation':
      return operation;
    case 'credential':
      return credential.name === '' ? credential.id : credential.name;
  }
}

function merge(series: readonly Series[]): Series {
  const requests = (series[0] as Series).requests.map((_, day) =>
    sum(series.map((one) => one.requests[day] ?? 0)),
  );
  return { name: othersName, requests, total: sum(requests) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
