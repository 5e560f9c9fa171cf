import { setPriority } from 'node:os';
import { documentNoises } from '../../tests/harness/neighbors/document-noises.ts';
import { describeOutcomes, type Measured, measureBeside } from '../../tests/harness/neighbors/measure.ts';
import { type Neighborhood, startNeighborhood } from '../../tests/harness/neighbors/neighborhood.ts';
import { type Noise, silence } from '../../tests/harness/neighbors/noise.ts';
import { poisonReply, poisonSettings } from '../../tests/harness/neighbors/poison-reply.ts';
import { requestNoises } from '../../tests/harness/neighbors/request-noises.ts';
import { type Operation, TimedTenant } from '../../tests/harness/neighbors/timed-tenant.ts';
import type { Plan } from './plan.ts';
import { median } from './rounds.ts';
import { createsOnSlowDisk, startOnSlowDisk } from './slow-disk.ts';
import { ms, printTable, rate } from './table.ts';

const operations: readonly Operation[] = ['get', 'list', 'create', 'upload'];
/**
 * Lowers the priority of the load programs. In production they run on other machines and take no processor time from
 * the service.
 */
const niceness = 10;
const atLeastMs = 2_000;
const roundsMax = 3;

interface Round {
  /** Undefined if the service cannot be measured without the noise. */
  readonly idle?: Measured;
  readonly beside: Measured;
}

/** Compares one tenant's response times while another tenant misbehaves with those on an idle service just before. */
export async function measureNeighbors({ neighborSeconds }: Plan): Promise<void> {
  const timed = new TimedTenant();
  const world = await startNeighborhood();
  const poisoned = await startNeighborhood(poisonSettings);
  setPriority(0, niceness);
  const measure = async (world: Neighborhood, noise: Noise): Promise<Measured> => {
    const measured = await measureBeside(timed, world, () => noise.make(world, 'full'), atLeastMs);
    if (measured.faults.length > 0) throw new Error(`Beside ${noise.name}: ${measured.faults.join(', ')}.`);
    return measured;
  };
  // The first reply starts the model's thread, and the first upload starts a reader.
  await measure(world, silence);
  const rows: string[][] = [];
  const measureRounds = async (world: Neighborhood, noise: Noise) => {
    const rounds: Round[] = [];
    let noisySeconds = 0;
    while (rounds.length < roundsMax && noisySeconds < neighborSeconds) {
      const round = { idle: await measure(world, silence), beside: await measure(world, noise) };
      noisySeconds += round.beside.seconds;
      rounds.push(round);
    }
    rows.push(formatRow(noise, rounds));
    console.error(rows.at(-1)!.join(' | '));
  };
  for (const noise of [silence, ...documentNoises, ...requestNoises]) await measureRounds(world, noise);
  await world.service.end();
  const slow = await startOnSlowDisk();
  if (slow !== undefined) {
    await measure(slow, silence);
    await measureRounds(slow, createsOnSlowDisk);
    await slow.service.end();
  }
  // There is no idle measurement: the workers start with the noise, and a measurement ends with a reply.
  rows.push(formatRow(poisonReply, [{ beside: await measure(poisoned, poisonReply) }]));
  await poisoned.service.end();
  timed.end();
  const ratios = operations.map((operation) => `${operation}, × idle`);
  const headings = [
    'beside',
    'get p99 ms',
    ...ratios,
    'upload p99 ms',
    'get max ms',
    'waited, %',
    'MiB',
    'the noisy tenant got',
  ];
  printTable('One tenant beside another', headings, rows);
}

function formatRow(noise: Noise, rounds: readonly Round[]): string[] {
  const p99 = (measured: Measured, operation: Operation) => measured.figures[operation].p99Ms;
  const ratio = (operation: Operation) =>
    median(
      rounds.map(({ idle, beside }) => (idle ? p99(beside, operation) / p99(idle, operation) : Number.NaN)),
    );
  return [
    noise.name,
    ms(median(rounds.map(({ beside }) => p99(beside, 'get')))),
    ...operations.map((operation) => (rounds[0]?.idle ? ratio(operation).toFixed(1) : '')),
    ms(median(rounds.map(({ beside }) => p99(beside, 'upload')))),
    ms(Math.max(...rounds.map(({ beside }) => beside.figures.get.maxMs))),
    rate(median(rounds.map(({ beside }) => (100 * beside.waitedSeconds) / beside.seconds))),
    rate(Math.max(...rounds.map(({ beside }) => beside.grownMb))),
    describeOutcomes(rounds.at(-1)!.beside.outcomes),
  ];
}
