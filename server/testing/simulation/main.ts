import { World } from './world.ts';

const seed = Number(process.argv[2] ?? 1),
  steps = Number(process.argv[3] ?? 2000),
  count = Number(process.argv[4] ?? 1);
process.on('unhandledRejection', (e) => {
  console.log('UNHANDLED', e);
});
let total = 0;
const t = performance.now();
const bad: Record<string, number> = {};
for (let s = seed; s < seed + count; s++) {
  const lines: string[] = [];
  const world = new World({ seed: s, steps, ...(count === 1 && { record: (l: string) => lines.push(l) }) });
  const r = await world.run();
  total += r.steps;
  if (count === 1) console.log(lines.slice(-Number(process.argv[5] ?? 60)).join('\n'));
  if (r.violation || count === 1) {
    console.log(s, JSON.stringify(r));
    const k = r.violation?.invariant ?? 'none';
    bad[k] = (bad[k] ?? 0) + 1;
  }
}
const ms = performance.now() - t;
console.log(bad, total, 'steps', Math.round(ms), 'ms', Math.round((total / ms) * 1000), 'steps/s');
