/**
 * `npm run simulate -- [--seed N] [--steps M] [--seeds K]` simulates K worlds, of the seeds N, N+1, …, for M steps each.
 * A world that breaks an invariant is shrunk and its history printed; the command then exits with 1.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { invariants } from './invariants.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';
import type { RunOptions, RunResult } from './world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: `${randomInt(2 ** 31)}` },
    steps: { type: 'string', default: '100000' },
    seeds: { type: 'string', default: '1' },
  },
});
const [firstSeed, steps, seeds] = [values.seed, values.steps, values.seeds].map(Number) as [
  number,
  number,
  number,
];
if (![firstSeed, steps, seeds].every(Number.isSafeInteger) || steps < 1 || seeds < 1) {
  console.error('--seed, --steps and --seeds must be whole numbers.');
  process.exit(2);
}

process.on('unhandledRejection', (error) => {
  throw error;
});

const beganMs = performance.now();
let total = 0;
let simulatedMs = 0;
for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
  const options: RunOptions = { seed, steps };
  const result = await simulate(options);
  total += result.steps;
  simulatedMs += result.simulatedMs;
  if (result.violation !== undefined) await explain(options, result);
  if (seeds === 1) console.log(`Seed ${seed}: history ${result.hash}, ${result.actions} actions.`);
}
const seconds = (performance.now() - beganMs) / 1000;
const range = seeds === 1 ? `seed ${firstSeed}` : `seeds ${firstSeed} to ${firstSeed + seeds - 1}`;
console.log(
  `${total.toLocaleString('en')} steps, ${Math.round(simulatedMs / 1000).toLocaleString('en')} simulated seconds, ` +
    `${range}: no violation. ${Math.round(total / seconds).toLocaleString('en')} steps a second.`,
);

async function explain(options: RunOptions, result: RunResult): Promise<never> {
  const { invariant, detail } = result.violation!;
  console.error(`Seed ${options.seed}, step ${result.steps}: it is not true that ${invariants[invariant]}.`);
  console.error(`${detail}\n`);
  const short = await shrink(options, result);
  const lines: string[] = [];
  await simulate({ ...short.options, record: (line) => lines.push(line) });
  const count = short.options.only?.size ?? result.actions;
  console.error(`The same happens with ${count} of the ${result.actions} actions:\n`);
  console.error(lines.join('\n'));
  console.error(`\n${short.result.violation!.detail}`);
  console.error(`Repeat it with: npm run simulate -- --seed ${options.seed} --steps ${options.steps}`);
  process.exit(1);
}
