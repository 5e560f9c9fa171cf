import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { invariants } from './invariants.ts';
import { plantedBugs } from './mutations.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';
import type { RunOptions, RunResult } from './world.ts';

const steps = 800;

async function run(options: RunOptions): Promise<RunResult> {
  const result = await simulate(options);
  const { violation, steps: count } = result;
  const command = `npm run simulate -- --seed ${options.seed} --steps ${options.steps}`;
  if (violation)
    assert.fail(`${invariants[violation.invariant]}: ${violation.detail} (step ${count}; ${command})`);
  return result;
}

describe('The simulation', () => {
  it('breaks no invariant with the seeds 1 to 200', async () => {
    for (let seed = 1; seed <= 200; seed += 1) await run({ seed, steps });
  });

  it('breaks no invariant with a fresh seed', async (test) => {
    const seed = randomInt(2 ** 31);
    test.diagnostic(`seed ${seed}`);
    await run({ seed, steps: 10_000 });
  });

  it('repeats a history exactly', async () => {
    const results = [await run({ seed: 2, steps }), await run({ seed: 2, steps })];
    assert.deepEqual(results[0], results[1]);
    assert.notEqual((await run({ seed: 3, steps })).hash, results[0]!.hash);
  });

  it('shrinks a failing run to a short, readable history', async () => {
    const { mutation } = plantedBugs['a node remembers for two seconds that a key is live']!;
    let failing: RunOptions = { seed: 1, steps: 3000, mutation };
    let result = await simulate(failing);
    while (result.violation === undefined) {
      failing = { ...failing, seed: failing.seed + 1 };
      result = await simulate(failing);
    }
    const short = await shrink(failing, result, 300_000);
    assert.equal(short.result.violation?.invariant, result.violation.invariant);
    const lines: string[] = [];
    await simulate({ ...short.options, record: (line) => lines.push(line) });
    assert.ok(
      short.options.only!.size < result.actions / 2,
      `${short.options.only!.size} of ${result.actions}`,
    );
    assert.match(lines.join('\n'), /is asked: .*revoke the key of/);
  });
});
