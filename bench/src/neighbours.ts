import { setPriority } from 'node:os';
import { documentNoises } from '../../tests/src/neighbours/document-noises.ts';
import { describeOutcomes, type Measured, measureBeside } from '../../tests/src/neighbours/measure.ts';
import { type Neighbourhood, startNeighbourhood } from '../../tests/src/neighbours/neighbourhood.ts';
import { type Noise, silence } from '../../tests/src/neighbours/noise.ts';
import { poisonReply, poisonSettings } from '../../tests/src/neighbours/poison-reply.ts';
import { requestNoises } from '../../tests/src/neighbours/request-noises.ts';
import { type Operation, TimedTenant } from '../../tests/src/neighbours/timed-tenant.ts';
import type { Plan } from './plan.ts';
import { ms, printTable, rate } from './table.ts';

const operations: readonly Operation[] = ['get', 'list', 'create', 'upload'];
/** Of the load programs: in practice they run on other machines, and take no processor from the service. */
const niceness = 10;

/** What one tenant's requests take while another does its worst, against an idle service right before. */
export async function measureNeighbours({ neighbourSeconds }: Plan): Promise<void> {
  const timed = new TimedTenant();
  const world = await startNeighbourhood();
  const poisoned = await startNeighbourhood(poisonSettings);
  setPriority(0, niceness);
  const rows: string[][] = [];
  const compare = async (world: Neighbourhood, noise: Noise) => {
    const measure = (one: Noise, seconds: number) =>
      measureBeside(timed, world, () => one.make(world, 'full'), seconds * 1000);
    const idle = await measure(silence, neighbourSeconds / 2);
    rows.push(rowOf(noise, idle, await measure(noise, neighbourSeconds)));
  };
  // The first replies start the thread of the model, and the first upload its reader: that is not what is measured.
  await measureBeside(timed, world, () => silence.make(world, 'full'), 2_000);
  for (const noise of [silence, ...documentNoises, ...requestNoises]) await compare(world, noise);
  await world.service.end();
  // A reply is awaited at the end of each measurement: without a worker there is none, so nothing is compared with idle.
  const beside = await measureBeside(timed, poisoned, () => poisonReply.make(poisoned, 'full'), 0);
  rows.push(rowOf(poisonReply, undefined, beside));
  await poisoned.service.end();
  timed.end();
  printTable(
    'One tenant beside another',
    [
      'beside',
      ...operations.map((name) => `${name} p99 ms`),
      ...operations.map((name) => `${name}, × idle`),
      'get max ms',
      'MiB',
      'the noisy tenant got',
    ],
    rows,
  );
}

function rowOf(noise: Noise, idle: Measured | undefined, beside: Measured): string[] {
  if (beside.faults.length > 0) throw new Error(`Beside ${noise.name}: ${beside.faults.join(', ')}.`);
  const p99 = (measured: Measured, operation: Operation) => measured.figures[operation].p99Ms;
  return [
    noise.name,
    ...operations.map((name) => ms(p99(beside, name))),
    ...operations.map((name) => (idle === undefined ? '' : (p99(beside, name) / p99(idle, name)).toFixed(1))),
    ms(beside.figures.get.maxMs),
    rate(beside.grownMb),
    describeOutcomes(beside.outcomes),
  ];
}
