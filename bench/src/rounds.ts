import { type LoadResult, type LoadSettings, load, type Request, type Target } from './load.ts';

export interface Contender {
  readonly target: Target;
  readonly requests: readonly Request[];
}

export interface RoundSettings extends LoadSettings {
  readonly rounds: number;
  readonly warmUpSeconds: number;
}

interface Comparison {
  /** For each contender, the median of each figure over the rounds. */
  readonly results: LoadResult[];
  /** For each contender, the median over the rounds of its requests per second relative to the last contender's. */
  readonly ratios: number[];
  /** The same for processor time per request, which other load on the machine hardly affects. */
  readonly cpuRatios: number[];
  readonly databaseCpuRatios: number[];
}

/**
 * Measures the contenders in turn in several short rounds, and compares only figures of the same round. Other load on
 * the machine then affects all contenders alike, and the median drops the rounds in which it did not.
 */
export async function compare(
  contenders: readonly Contender[],
  settings: RoundSettings,
): Promise<Comparison> {
  const { rounds, warmUpSeconds } = settings;
  for (const { target, requests } of contenders)
    await load(target, requests, { ...settings, seconds: warmUpSeconds });
  const measured: LoadResult[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const results: LoadResult[] = [];
    for (const { target, requests } of contenders) results.push(await load(target, requests, settings));
    measured.push(results);
  }
  const perContender = <T>(summarize: (index: number) => T) => contenders.map((_, index) => summarize(index));
  const ratio = (index: number, figure: keyof LoadResult) =>
    median(measured.map((results) => results[index]![figure] / results.at(-1)![figure]));
  return {
    results: perContender((index) => ({
      requests: median(measured.map((results) => results[index]!.requests)),
      requestsPerSecond: median(measured.map((results) => results[index]!.requestsPerSecond)),
      p50Ms: median(measured.map((results) => results[index]!.p50Ms)),
      p99Ms: median(measured.map((results) => results[index]!.p99Ms)),
      cpuMicros: median(measured.map((results) => results[index]!.cpuMicros)),
      databaseCpuMicros: median(measured.map((results) => results[index]!.databaseCpuMicros)),
    })),
    ratios: perContender((index) => ratio(index, 'requestsPerSecond')),
    cpuRatios: perContender((index) => ratio(index, 'cpuMicros')),
    databaseCpuRatios: perContender((index) => ratio(index, 'databaseCpuMicros')),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
