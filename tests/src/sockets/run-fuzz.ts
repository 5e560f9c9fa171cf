import { parseArgs } from 'node:util';
import { fuzzTarget } from '../../harness/fuzz/fuzz-run.ts';
import { FuzzWorld } from '../../harness/fuzz/fuzz-world.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } });
const seconds = Number(values.seconds ?? 60);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!(seconds > 0) || !Number.isInteger(seed)) {
  console.error('Usage: npm run fuzz -- --seconds N [--seed S]');
  process.exit(1);
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
console.log(`Fuzzing for ${seconds} s; --seed ${seed} repeats this run.`);
const world = await FuzzWorld.start();
const deadline = Date.now() + seconds * 1000;
const outcomes = await Promise.all(
  world.targets.map(async (target) => {
    const outcome = await fuzzTarget(target, seed, () => Date.now() > deadline);
    console.log(
      `${target.name}: ${outcome.connections} connections, answers ${JSON.stringify(outcome.statuses)}`,
    );
    return outcome;
  }),
);
const failures = [...outcomes.flatMap((outcome) => outcome.failures), ...world.faults()];
if (!(await world.end()))
  failures.push(
    `A process died:\n${world.services.map(({ output }) => output.slice(-5).join('\n')).join('\n')}`,
  );
for (const failure of failures) console.error(failure);
console.log(failures.length === 0 ? 'No failures.' : `${failures.length} failures with seed ${seed}.`);
process.exit(failures.length === 0 ? 0 : 1);
