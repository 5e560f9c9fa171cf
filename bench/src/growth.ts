import type { Request, Target } from './load.ts';
import type { Plan } from './plan.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import {
  createThreads,
  getThreads,
  listAtDepth,
  listFirstPage,
  renameThreads,
  unchangedThreads,
} from './requests.ts';
import { compare } from './rounds.ts';
import { type SeededStore, seedStore } from './seed.ts';
import { type Service, skein, startService } from './service.ts';
import { micros, printTable, rate, ratio, say } from './table.ts';
import { verifyStore } from './verify-store.ts';

export interface Side {
  readonly service: Target;
  readonly store: SeededStore;
}

interface Question {
  readonly name: string;
  readonly small: readonly Request[];
  readonly large: readonly Request[];
}

/** Sends the same requests to a small and a large store, each with its own service, in the same rounds. */
export async function measureGrowth(plan: Plan): Promise<void> {
  const small = await startSide(plan.smallThreads);
  const large = await startSide(plan.largeThreads);
  await compareSides('Growth', small, large, plan);
  for (const { service, store } of [small, large]) {
    await service.stop();
    removeFolder(store.folder);
  }
}

export async function compareSides(title: string, small: Side, large: Side, plan: Plan): Promise<void> {
  const hasDatabase = large.service.databaseCpuSeconds !== undefined;
  const rows: string[][] = [];
  for (const question of await questions(small, large)) {
    const contenders = [
      { target: large.service, requests: question.large },
      { target: small.service, requests: question.small },
    ];
    const { results, ratios, cpuRatios, databaseCpuRatios } = await compare(contenders, plan.settings);
    const [ofLarge, ofSmall] = results as [(typeof results)[0], (typeof results)[0]];
    rows.push([
      question.name,
      rate(ofSmall.requestsPerSecond),
      rate(ofLarge.requestsPerSecond),
      ratio(1 / ratios[0]!),
      micros(ofSmall.cpuMicros),
      micros(ofLarge.cpuMicros),
      ratio(cpuRatios[0]!),
      ...(hasDatabase
        ? [micros(ofSmall.databaseCpuMicros), micros(ofLarge.databaseCpuMicros), ratio(databaseCpuRatios[0]!)]
        : []),
    ]);
  }
  const [few, many] = [small, large].map(({ store }) => store.threads.toLocaleString('en'));
  const headings = [
    'operation',
    `at ${few}, /s`,
    `at ${many}, /s`,
    'slower by',
    'CPU µs',
    'CPU µs',
    'CPU ratio',
  ];
  const ofDatabase = ['PostgreSQL CPU µs', 'PostgreSQL CPU µs', 'CPU ratio'];
  printTable(
    `${title}: ${many} threads against ${few}`,
    [...headings, ...(hasDatabase ? ofDatabase : [])],
    rows,
  );
}

async function startSide(threads: number): Promise<Side & { service: Service }> {
  const began = performance.now();
  const store = await seedStore(temporaryFolder(), threads);
  const seconds = (performance.now() - began) / 1000;
  const { healthy, findings } = await skein(store.folder, 'doctor');
  if (!healthy) throw new Error(`The seeded store is not sound: ${JSON.stringify(findings)}`);
  const service = await startService(store.folder);
  await verifyStore(service, store);
  say(
    `Seeded ${threads.toLocaleString('en')} threads in ${seconds.toFixed(0)} s; 'skein doctor' finds them sound, and the ` +
      `listings show what was written (${store.sizes.personal.toLocaleString('en')} visible to the personal key).`,
  );
  return { service, store };
}

/** Reads come first because writes make both stores grow, and the small one proportionally more. */
async function questions(small: Side, large: Side): Promise<Question[]> {
  const ask = (name: string, requests: (side: Side) => readonly Request[]): Question => ({
    name,
    small: requests(small),
    large: requests(large),
  });
  const key = ({ store }: Side) => store.personalKey;
  const deepest = Math.floor(small.store.sizes.personal / 2 / 100) * 100;
  const atDepth = async (depth: number): Promise<Question> => ({
    name: depth === deepest ? `list, 25 at depth ${depth}` : `list, 25 at depth ${depth} (small: ${deepest})`,
    small: await listAtDepth(small.service, small.store.personalKey, deepest),
    large: await listAtDepth(large.service, large.store.personalKey, depth),
  });
  return [
    ask('get', ({ store }) => getThreads(store.ownIds, store.personalKey)),
    {
      name: 'get, unchanged (304)',
      small: await unchangedThreads(small.service, small.store.ownIds, key(small)),
      large: await unchangedThreads(large.service, large.store.ownIds, key(large)),
    },
    ask("get, others' published", ({ store }) => getThreads(store.publishedIds, store.personalKey)),
    ask('list, first page of 25', (side) => listFirstPage(key(side))),
    ask('list, org-wide key', ({ store }) => listFirstPage(store.orgWideKey)),
    ask('list, one account', ({ store }) => listFirstPage(store.personalKey, store.accountId)),
    await atDepth(deepest),
    await atDepth(5_000),
    await atDepth(9_900),
    ask('create', (side) => createThreads(key(side))),
    ask('rename', ({ store }) => renameThreads(store.ownIds, store.personalKey)),
  ];
}
