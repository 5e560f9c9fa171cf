import type { Neighborhood } from './neighborhood.ts';
import { ProcessUsage } from './process-usage.ts';
import type { TimedReport, TimedTenant } from './timed-tenant.ts';

/** What happened to the quiet tenant, the service and the noisy tenant during the measurement. */
export interface Measured extends TimedReport {
  readonly grownMb: number;
  readonly cpuSeconds: number;
  /** How long the service's event loop waited for a processor. */
  readonly waitedSeconds: number;
  readonly seconds: number;
  /** How often the noisy tenant got each outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Times the quiet tenant while `work` runs repeatedly, for at least this long. */
export async function measureBeside(
  timed: TimedTenant,
  world: Neighborhood,
  work: () => Promise<readonly string[]>,
  atLeastMs: number,
): Promise<Measured> {
  await timed.start(world);
  const usage = new ProcessUsage(world.service.pid);
  const began = performance.now();
  const outcomes: Record<string, number> = {};
  do {
    for (const outcome of await work()) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  } while (performance.now() - began < atLeastMs);
  const seconds = (performance.now() - began) / 1000;
  const { grownMb, cpuSeconds, waitedSeconds } = usage;
  return { ...(await timed.stop()), grownMb, cpuSeconds, waitedSeconds, seconds, outcomes };
}

/** A summary of response times, resource use, and the outcomes of the noisy tenant. */
export function describeMeasured(measured: Measured): string[] {
  const { figures, grownMb, cpuSeconds, waitedSeconds, seconds, outcomes } = measured;
  const times = Object.entries(figures).map(
    ([operation, { count, p50Ms, p99Ms, maxMs }]) =>
      `${operation} ×${count}: p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)}, max ${maxMs.toFixed(0)} ms`,
  );
  return [
    ...times,
    `${seconds.toFixed(1)} s; the service took ${cpuSeconds.toFixed(1)} s of CPU and grew by ${grownMb.toFixed(0)} MiB`,
    `its event loop waited ${waitedSeconds.toFixed(1)} s for a processor`,
    `the noisy tenant got ${describeOutcomes(outcomes)}`,
  ];
}

export function describeOutcomes(outcomes: Measured['outcomes']): string {
  const counts = Object.entries(outcomes).map(([outcome, count]) => `${outcome} ×${count}`);
  return counts.join(', ') || 'nothing';
}
