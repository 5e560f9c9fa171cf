/**
 * `npm run prove -- --minutes N [--seed S] [--report FILE]`: simulates, breaks real clusters under load and checks the
 * recorded histories, sends malformed requests, and soaks. Exits with 1 if any promise was broken.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Chance } from '../../harness/fuzz/chance.ts';
import { fuzzTarget } from '../../harness/fuzz/fuzz-run.ts';
import { FuzzWorld } from '../../harness/fuzz/fuzz-world.ts';
import { root } from '../../harness/service/service.ts';
import { Report } from './report.ts';
import { runRound } from './round.ts';
import { Site } from './site.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, report: { type: 'string' } },
});
const minutes = Number(values.minutes ?? 10);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error('Usage: npm run prove -- --minutes N [--seed S] [--report FILE]');
  process.exit(1);
}
const chance = new Chance(seed);
const report = new Report(minutes, seed);
const roundMs = 30_000;
const simulatedSteps = 200_000;

// Exiting also ends this run's processes and mounts.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
console.log(`Proving for about ${minutes} minutes; the seed is ${seed}.`);
await simulate(share(0.05));
await breakSite('embedded store, two processes', share(0.2), () => Site.embedded());
await breakSite('embedded store on a disk that fills up', share(0.1), () =>
  Site.embedded({ onSmallDisk: true }),
);
await breakSite('PostgreSQL, two nodes', share(0.25), () => Site.postgres());
await breakSite('PostgreSQL through PgBouncer', share(0.1), () => Site.pooled());
await breakSite('PostgreSQL managed by Patroni', share(0.1), () => Site.patroni());
await fuzz(share(0.1));
await soak('embedded store, half load', share(0.05), () => Site.embedded());
await soak('PostgreSQL, half load', share(0.05), () => Site.postgres());
const text = report.toMarkdown();
console.log(text);
if (values.report !== undefined) writeFileSync(values.report, text);
process.exit(report.violations.length === 0 ? 0 : 1);

function share(part: number): number {
  return part * minutes * 60_000;
}

async function simulate(ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline) {
    const words = ['--seed', String(chance.below(2 ** 31)), '--steps', String(simulatedSteps)];
    const program = join(root, 'server/testing/simulation/main.ts');
    const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    for await (const chunk of child.stderr) output += chunk;
    if (child.exitCode === null) await once(child, 'exit');
    const isPassed = child.exitCode === 0;
    // A run that ended early did not take all its steps.
    report.addSimulation(isPassed ? simulatedSteps : 0, isPassed ? [] : [output]);
  }
}

async function breakSite(name: string, ms: number, start: () => Promise<Site | undefined>): Promise<void> {
  const site = await start();
  if (site === undefined) {
    report.skip(name);
    return;
  }
  const deadline = performance.now() + ms;
  for (let round = 1; performance.now() < deadline; round += 1) {
    const left = deadline - performance.now();
    const outcome = await runRound(site, { name: `${round}`, ms: Math.min(roundMs, left), chance });
    console.log(
      `${name}, round ${round}: ${outcome.calls} calls, ${outcome.outages.length} faults, ${outcome.violations.length} violations`,
    );
    report.addRound(name, outcome);
  }
  report.addViolations(name, await site.end());
}

async function fuzz(ms: number): Promise<void> {
  const world = await FuzzWorld.start();
  const deadline = performance.now() + ms;
  const outcomes = await Promise.all(
    world.targets.map((target) => fuzzTarget(target, seed, () => performance.now() > deadline)),
  );
  const faults = world.faults();
  const died = (await world.end()) ? [] : ['a fuzzed process died'];
  for (const outcome of outcomes) report.addFuzz(outcome);
  report.addViolations('fuzzed requests', [...faults, ...died]);
}

async function soak(name: string, ms: number, start: () => Promise<Site>): Promise<void> {
  const site = await start();
  const samples: number[] = [];
  const sampling = setInterval(() => samples.push(Math.max(...site.memoryBytes())), 1000);
  const outcome = await runRound(site, { name: 'soak', ms, chance, isSoak: true });
  clearInterval(sampling);
  report.addRound(name, outcome);
  report.addMemory(name, samples);
  report.addViolations(name, await site.end());
}
