import { startBareServer } from './bare.ts';
import type { Request, Target } from './load.ts';
import type { Part, Plan } from './plan.ts';
import {
  createThreads,
  getThreads,
  listAtDepth,
  listFirstPage,
  renameThreads,
  unchangedThreads,
} from './requests.ts';
import { compare } from './rounds.ts';
import type { SeededStore } from './seed.ts';
import { micros, ms, printTable, rate, ratio } from './table.ts';

interface Operation {
  readonly part: Part;
  readonly name: string;
  readonly requests: readonly Request[];
}

/** Reads come first, so that they are measured on the seeded data. */
async function operations(service: Target, store: SeededStore): Promise<Operation[]> {
  const { personalKey, orgWideKey, accountId, ownIds } = store;
  const depth = Math.floor(store.sizes.personal / 2);
  return [
    { part: 'get', name: 'get', requests: getThreads(ownIds, personalKey) },
    { part: 'get', name: 'get, 304', requests: await unchangedThreads(service, ownIds, personalKey) },
    { part: 'list', name: 'list, first page of 25', requests: listFirstPage(personalKey) },
    {
      part: 'list-deep',
      name: `list, 25 at depth ${depth.toLocaleString('en')}`,
      requests: await listAtDepth(service, personalKey, depth),
    },
    { part: 'list-account', name: 'list, one account', requests: listFirstPage(personalKey, accountId) },
    { part: 'list-org-wide', name: 'list, org-wide key', requests: listFirstPage(orgWideKey) },
    { part: 'create', name: 'create', requests: createThreads(personalKey) },
    { part: 'rename', name: 'rename', requests: renameThreads(ownIds, personalKey) },
  ];
}

/** Compares each operation with a bare `node:http` server that answers with the same bytes, in the same rounds. */
export async function measureOperations(service: Target, store: SeededStore, plan: Plan): Promise<void> {
  const chosen = (await operations(service, store)).filter(({ part }) => plan.parts.has(part));
  if (chosen.length === 0) return;
  const rows: string[][] = [];
  for (const { name, requests } of chosen) {
    const bare = await startBareServer(service, requests[0]!);
    const contenders = [
      { target: service, requests },
      { target: bare, requests },
    ];
    const { results, ratios, cpuRatios } = await compare(contenders, plan.settings);
    await bare.stop();
    const [ours, bares] = results as [(typeof results)[0], (typeof results)[0]];
    rows.push([
      name,
      rate(ours.requestsPerSecond),
      rate(bares.requestsPerSecond),
      ratio(ratios[0]!),
      ms(ours.p50Ms),
      ms(ours.p99Ms),
      micros(ours.cpuMicros),
      micros(bares.cpuMicros),
      ratio(1 / cpuRatios[0]!),
    ]);
  }
  printTable(
    `Operations, ${store.threads.toLocaleString('en')} threads, ${plan.settings.connections} connections`,
    ['operation', 'requests/s', 'bare/s', 'ratio', 'p50 ms', 'p99 ms', 'CPU µs', 'bare CPU µs', 'CPU ratio'],
    rows,
  );
}
