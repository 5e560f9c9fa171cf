import { load, type Target } from './load.ts';
import type { Plan } from './plan.ts';
import { listAtDepth, renameThreads } from './requests.ts';
import { compare } from './rounds.ts';
import type { SeededStore } from './seed.ts';
import { micros, printTable, rate, ratio } from './table.ts';

/** Seconds of renames, at full speed, between the stages. */
const stages = [1, 4];

/**
 * A walk shows threads that were renamed since its start at their old position. The cost per page grows with the number
 * of renames since then, so a page of an old walk is compared with the same page of a new one.
 */
export async function measureOldWalks(service: Target, store: SeededStore, plan: Plan): Promise<void> {
  const { personalKey, ownIds } = store;
  const { connections, seconds } = plan.settings;
  const depth = Math.floor(store.sizes.personal / 2);
  const renames = renameThreads(ownIds, personalKey);
  const old = await listAtDepth(service, personalKey, depth);
  let renamed = 0;
  const rows: string[][] = [];
  for (const stage of stages) {
    renamed += (await load(service, renames, { connections, seconds: seconds * stage })).requests;
    const fresh = await listAtDepth(service, personalKey, depth);
    const contenders = [old, fresh].map((requests) => ({ target: service, requests }));
    const { results, ratios } = await compare(contenders, plan.settings);
    rows.push([
      `${renamed.toLocaleString('en')} renames of ${Math.min(renamed, ownIds.length).toLocaleString('en')} threads`,
      rate(results[0]!.requestsPerSecond),
      rate(results[1]!.requestsPerSecond),
      ratio(1 / ratios[0]!),
      micros(results[0]!.cpuMicros),
      micros(results[1]!.cpuMicros),
    ]);
  }
  printTable(
    'A page of a walk that began before many renames',
    ['since the walk started', 'pages/s', 'fresh walk, /s', 'slower by', 'CPU µs', 'fresh CPU µs'],
    rows,
  );
}
